// The targets of the fuzzers: each takes arbitrary bytes, and must return or throw an Error.
//
// A target compares ways that must agree: fast and slow readers, one thread and several, one piece and many.
#pragma once
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "evaluate.hpp"
#include "identity.hpp"
#include "text.hpp"

namespace gg::fuzz {

void lines(Bytes text);     // every line reader, at the end of its memory and before it
void numbers(Bytes text);   // the ways to parse a number, and the C library's
void tables(Bytes text);    // runs and judgments in every format of text
void measures(Bytes text);  // every kernel under every treatment of ties
void states(Bytes text);    // pickled judgments
void arrow(Bytes bytes);    // Arrow tables through the C stream interface
void parquet(Bytes bytes);  // Parquet files of flat columns
void packed(Bytes bytes);   // rows that engines move between machines
void urls(Bytes text);      // URLs and ids, reduced by rules
void patterns(Bytes text);  // the rules themselves
void texts(Bytes text);     // normal forms, markup, citations, times, people
void results(Bytes text);   // identity of a list of results
void keywords(Bytes text);  // the keyword index
void traces(Bytes text);    // conversations and Good Gain

/// Ends the process: two ways that must agree do not.
[[noreturn]] void differ(const char* what, Bytes input);

/// Some inputs, always the same ones, for comparisons that are too slow for each.
bool is_one_of(Bytes input, size_t every);

/// The lines of a text; the last of `most` holds the rest.
std::vector<std::string> lines_of(Bytes text, size_t most);

/// Changes a value of a JSON text; false if it has too few of them.
bool change_value(std::string& text, std::mt19937_64& random);

// --- shared by targets ---

/// Judgments of queries q and r.
const std::shared_ptr<const Qrels>& some_judgments();
/// A few kernels at a cutoff; of duplicate documents the first counts.
Plan some_plan();
/// A source of text that hands out at most `most` bytes at once.
StreamSource in_pieces(Bytes text, size_t most, const LineFormat& format);
/// The values of a run as bytes, and how many rows were bad.
std::string bytes_of(const Scores& scores);
/// Rules of identity with every kind of field, and with aliases.
const Rules& some_rules(bool passages);

}  // namespace gg::fuzz
