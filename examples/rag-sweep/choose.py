"""The systems of the finished experiment, and the best of them by nested cross-validation."""

from goodgain import ExperimentResult

result = ExperimentResult.open("out")
for name, means in result.scores.means.items():
    values = "  ".join(
        f"{measure} {value:.3f}" for measure, value in means.items() if "@" in str(measure)
    )
    print(f"{name:18} {values}")
print(result.choose("nDCG@100tokens"))
