// Packed rows, which engines move between machines: bytes that may be damaged on the way.
#include "packed.hpp"

#include <deque>
#include <vector>

#include "error.hpp"
#include "targets.hpp"

namespace gg::fuzz {

namespace {

struct Piece {
  Bytes query, bytes;
  int8_t kind;
};

/// A table of pieces through the C stream interface. Its memory lives as long as this.
class PieceStream {
 public:
  explicit PieceStream(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      queries_.add(piece.query);
      bytes_.add(piece.bytes);
      kinds_.push_back(piece.kind);
      places_.push_back(static_cast<int64_t>(places_.size()));
    }
    add_column("query", "z", {nullptr, queries_.ends.data(), queries_.bytes.data()});
    add_column("kind", "c", {nullptr, kinds_.data()});
    add_column("place", "l", {nullptr, places_.data()});
    add_column("piece", "z", {nullptr, bytes_.ends.data(), bytes_.bytes.data()});
  }
  PieceStream(const PieceStream&) = delete;
  PieceStream& operator=(const PieceStream&) = delete;

  ArrowTable table() {
    ArrowArrayStream stream{};
    stream.private_data = this;
    stream.get_schema = [](ArrowArrayStream* of, ArrowSchema* schema) {
      auto& columns = static_cast<PieceStream*>(of->private_data)->schema_pointers_;
      *schema = {.format = "+s", .name = "", .n_children = static_cast<int64_t>(columns.size())};
      schema->children = columns.data();
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* of, ArrowArray* batch) {
      PieceStream& self = *static_cast<PieceStream*>(of->private_data);
      *batch = {};
      if (std::exchange(self.is_done_, true)) return 0;
      batch->length = static_cast<int64_t>(self.kinds_.size());
      batch->n_buffers = 1;
      batch->buffers = &self.no_buffer_;
      batch->n_children = static_cast<int64_t>(self.array_pointers_.size());
      batch->children = self.array_pointers_.data();
      batch->release = [](ArrowArray* done) { done->release = nullptr; };
      return 0;
    };
    return ArrowTable(stream, "fuzz");
  }

 private:
  void add_column(const char* name, const char* format, std::vector<const void*> buffers) {
    schemas_.push_back({.format = format, .name = name});
    schema_pointers_.push_back(&schemas_.back());
    buffers_.push_back(std::move(buffers));
    arrays_.push_back({.length = static_cast<int64_t>(kinds_.size()),
                       .n_buffers = static_cast<int64_t>(buffers_.back().size()),
                       .buffers = buffers_.back().data()});
    array_pointers_.push_back(&arrays_.back());
  }

  Texts queries_, bytes_;
  std::vector<int8_t> kinds_;
  std::vector<int64_t> places_;
  const void* no_buffer_ = nullptr;
  std::deque<std::vector<const void*>> buffers_;
  std::deque<ArrowSchema> schemas_;
  std::deque<ArrowArray> arrays_;
  std::vector<ArrowSchema*> schema_pointers_;
  std::vector<ArrowArray*> array_pointers_;
  bool is_done_ = false;
};

/// Pieces of an input: a byte for the query and the kind, two for the length, and the bytes.
std::vector<Piece> pieces_of(Bytes text) {
  static constexpr Bytes queries[] = {"q", "r", "1", "c", "unjudged", ""};
  std::vector<Piece> pieces;
  while (text.size() >= 3 && pieces.size() < 8) {
    const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(text[i])); };
    const size_t choice = byte(0), size = std::min(text.size() - 3, byte(1) | (byte(2) & 3) << 8);
    pieces.push_back({queries[choice % 6], text.substr(3, size), static_cast<int8_t>(choice / 6 % 4)});
    text.remove_prefix(3 + size);
  }
  return pieces;
}

std::string outcome(const std::vector<Piece>& pieces, const std::shared_ptr<const Qrels>& qrels) {
  static const auto plan = std::make_shared<const Plan>(some_plan());
  PackedEvaluation evaluation(qrels, {}, plan, "fuzz");
  try {
    evaluation.add(PieceStream(pieces).table());
    evaluation.finish();
    const auto measured = evaluation.take();
    std::string all = measured.queries.bytes + '|' + std::to_string(evaluation.documents);
    all.append(reinterpret_cast<const char*>(measured.values.data()), measured.values.size() * sizeof(double));
    return all.append(measured.in_run.begin(), measured.in_run.end());
  } catch (const Error& e) {
    return std::string("error: ") + e.what();
  }
}

/// Measured where its rows are read, or where the pieces are joined: the same values.
void compare_measured(Bytes query, Bytes piece, Bytes input) {
  static const auto plan = std::make_shared<const Plan>(some_plan());
  const Piece mark{query, {}, static_cast<int8_t>(PieceKind::judgments)};
  std::string here;
  try {
    here = PackedEvaluation(some_judgments(), {}, plan, "fuzz").measured(query, piece);
  } catch (const Error&) {
    return;
  }
  const Piece rows{query, piece, static_cast<int8_t>(PieceKind::run)};
  const Piece values{query, here, static_cast<int8_t>(PieceKind::measured)};
  const bool has_rows = piece.substr(0, 4) != Bytes("\0\0\0\0", 4);
  if (has_rows && outcome({mark, rows}, some_judgments()) != outcome({mark, values}, some_judgments()))
    differ("rows measured here and there", input);
}

}  // namespace

void packed(Bytes text) {
  const std::vector<Piece> pieces = pieces_of(text);
  outcome(pieces, nullptr);
  outcome(pieces, some_judgments());
  if (!pieces.empty()) compare_measured("q", pieces.front().bytes, text);
}

}  // namespace gg::fuzz
