#include "python_tables.hpp"

#include <charconv>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "dict_members.hpp"
#include "error.hpp"
#include "python_values.hpp"

namespace nb = nanobind;

namespace gg {

namespace {

/// Reads ids and checks that those of a table are either all text or all integers.
class IdReader {
 public:
  IdReader(const char* what, const std::string& name, Arena& arena) : what_(what), name_(name), arena_(arena) {}

  Bytes operator()(PyObject* id) {
    if (PyUnicode_Check(id)) {
      if (kind_ != IdKind::text) seen(IdKind::text, id);
      Py_ssize_t size;
      const char* text = PyUnicode_AsUTF8AndSize(id, &size);
      if (!text) return escaped(id);
      return {text, static_cast<size_t>(size)};
    }
    if (PyIndex_Check(id) && !PyBool_Check(id)) {
      if (kind_ != IdKind::integer) seen(IdKind::integer, id);
      const nb::object number = nb::steal(PyNumber_Index(id));
      if (!number.is_valid()) throw nb::python_error();
      return arena_.keep(nb::cast<std::string>(nb::str(number)));
    }
    bad_input(std::string("the ") + what_ + " id " + python_repr(id) + " must be text or an integer", name_);
  }

  IdKind kind() const { return kind_; }
  /// The repr of the first id.
  std::string example() const { return first_.is_valid() ? python_repr(first_.ptr()) : ""; }

 private:
  void seen(IdKind kind, PyObject* id) {
    if (kind_ != IdKind::untyped)
      bad_input(std::string(what_) + " ids mix text and integers: " + python_repr(id) + " is " +
                    (kind == IdKind::text ? "text" : "an integer"),
                name_, "1 and '1' are different ids: use one type, for example with str()");
    kind_ = kind;
    first_ = nb::borrow(id);
  }

  /// Strings with lone surrogates come from ids that were not UTF-8; this restores their bytes.
  Bytes escaped(PyObject* id) {
    PyErr_Clear();
    try {
      return arena_.keep(bytes_of(to_bytes(id)));
    } catch (nb::python_error&) {
      bad_input(std::string("the ") + what_ + " id " + python_repr(id) + " is not valid text", name_);
    }
  }

  const char* what_;
  const std::string& name_;
  Arena& arena_;
  IdKind kind_ = IdKind::untyped;
  nb::object first_;
};

/// Makes the examples only for a message.
void require_same_kinds(const Qrels& qrels, const IdReader& queries, const IdReader& docs, const std::string& name) {
  if (qrels.query_kind != queries.kind() || qrels.doc_kind != docs.kind())
    require_same_kinds(qrels, {queries.kind(), queries.example()}, {docs.kind(), docs.example()}, name);
}

/// A finite number; otherwise an error that names the place.
double number(PyObject* value, Table table, PyObject* query, PyObject* doc, const std::string& name) {
  double result;
  if (PyFloat_CheckExact(value)) {
    result = PyFloat_AsDouble(value);
  } else {
    result = PyUnicode_Check(value) ? std::nan("") : PyFloat_AsDouble(value);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      result = std::nan("");
    }
  }
  if (!std::isfinite(result))
    bad_input(std::string("the ") + (table == Table::run ? "score " : "gain ") + python_repr(value) + " of document " +
                  python_repr(doc) + " for query " + python_repr(query) + " is not a finite number",
              name, "remove the document or use a finite number");
  return result;
}

/// Runs `use`, and counts the row as bad if it throws.
template <class Use>
void or_skipped(BadRows& bad, Use&& use) {
  try {
    use();
  } catch (const Error& e) {
    bad.add(as_example(e));
  }
}

bool is_mapping(PyObject* object) { return PyDict_Check(object); }

/// A (doc, score) pair, borrowed.
std::pair<PyObject*, PyObject*> pair_of(PyObject* item, const std::string& name) {
  if (PyTuple_Check(item) && PyTuple_Size(item) == 2) return {PyTuple_GetItem(item, 0), PyTuple_GetItem(item, 1)};
  if (PyList_Check(item) && PyList_Size(item) == 2) return {PyList_GetItem(item, 0), PyList_GetItem(item, 1)};
  bad_input("expected a (document, score) pair, got " + python_repr(item), name);
}

bool is_id(PyObject* item) { return PyUnicode_Check(item) || (PyIndex_Check(item) && !PyBool_Check(item)); }

/// Whether the documents of a dictionary have scores; some with and some without is an error.
class Scored {
 public:
  explicit Scored(const std::string& name) : name_(name) {}

  void see(PyObject* query, PyObject* docs, bool scored) {
    if (!query_) query_ = query, scored_ = scored;
    if (scored == scored_) return;
    const std::string which = query == query_ ? "document " + python_repr(docs) + " of query " + python_repr(query)
                                              : "query " + python_repr(query);
    bad_input(which + (scored ? " has scores, but " : " has no scores, but ") +
                  (query == query_ ? "the first one" : "query " + python_repr(query_)) +
                  (scored ? " has none" : " has them"),
              name_, "a run has scores for all of its documents, or lists in rank order");
  }

 private:
  const std::string& name_;
  PyObject* query_ = nullptr;  // the first one with documents
  bool scored_ = true;
};

/// Calls use(doc, value) for the documents of one query, in a dictionary, as pairs, or as ids in rank order, after
/// expect(count). Returns whether documents may repeat.
template <class Expect, class Use>
bool for_each_document(PyObject* query, PyObject* docs, const std::string& name, Scored& scored, Expect&& expect,
                       Use&& use) {
  if (is_mapping(docs)) {
    expect(static_cast<size_t>(PyDict_Size(docs)));
    if (PyDict_Size(docs)) scored.see(query, docs, true);
    PyObject *doc, *value;
    Py_ssize_t place = each_plain_member(docs, 0, use);
    while (PyDict_Next(docs, &place, &doc, &value)) use(doc, value);
    return false;
  }
  if (PyList_Check(docs) || PyTuple_Check(docs)) {
    expect(static_cast<size_t>(PySequence_Size(docs)));
    for (Py_ssize_t i = 0; i < PySequence_Size(docs); ++i) {
      PyObject* item = PyList_Check(docs) ? PyList_GetItem(docs, i) : PyTuple_GetItem(docs, i);
      scored.see(query, item, !is_id(item));
      if (is_id(item)) {
        const nb::float_ score(-static_cast<double>(i + 1));
        use(item, score.ptr());
      } else {
        const auto [doc, value] = pair_of(item, name);
        use(doc, value);
      }
    }
    return true;
  }
  bad_input("expected the documents of query " + python_repr(query) + ", got " + python_repr(docs), name,
            "a run is {query: {document: score}}, {query: [(document, score), ...]} or {query: [document, ...]}");
}

/// Joins the rows of a query with its judgments and measures them. Their hashes were computed where the text of an id
/// was at hand: it is needed again only if it may be judged, or tied.
template <class Where>
void measure_rows(Scores& scores, Worker& worker, uint32_t q, std::vector<Row>& rows, bool may_repeat, Where&& where) {
  const QueryJudgments& query = (*scores.qrels)[q];
  for (Row& row : rows) row.judgment = query.find(row.doc, row.hash);
  scores.in_run[q] = 1;
  scores.counts[q] = worker.measure(query, rows, may_repeat, scores.values.data() + q * scores.width, where);
}

/// Queries whose rows are collected and waiting to be measured.
struct Batch {
  struct Query {
    uint32_t query;
    size_t begin, end;
    bool may_repeat;
  };
  std::vector<Query> queries;
  std::vector<Row> rows;
};

/// Measures batches on other threads while this one walks the dictionary.
class Measuring {
 public:
  Measuring(Scores& scores, const Plan& plan, unsigned workers, const std::string& name)
      : scores_(scores), plan_(plan), name_(name), own_(*scores.qrels, plan) {
    for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }

  ~Measuring() { finish(); }

  /// Hands a batch to a thread; if all are busy, measures it here.
  void add(Batch& batch) {
    if (!threads_.empty()) {
      std::unique_lock lock(mutex_);
      if (waiting_.size() < 2 * threads_.size()) {
        waiting_.push_back(std::move(batch));
        lock.unlock();
        changed_.notify_one();
        batch = {};
        return;
      }
    }
    measure(own_, batch, rows_);
    batch.queries.clear();
    batch.rows.clear();
  }

  void done() {
    while (true) {  // help with the rest
      Batch batch;
      {
        const std::lock_guard lock(mutex_);
        if (waiting_.empty()) break;
        batch = std::move(waiting_.front());
        waiting_.pop_front();
      }
      measure(own_, batch, rows_);
    }
    finish();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void finish() {
    {
      const std::lock_guard lock(mutex_);
      finished_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  void work() {
    Worker worker(*scores_.qrels, plan_);
    std::vector<Row> rows;
    while (true) {
      Batch batch;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return finished_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        batch = std::move(waiting_.front());
        waiting_.pop_front();
      }
      try {
        measure(worker, batch, rows);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        const uint32_t at = batch.queries.front().query;
        if (!error_ || at < error_at_) error_ = std::current_exception(), error_at_ = at;
      }
    }
  }

  void measure(Worker& worker, Batch& batch, std::vector<Row>& rows) {
    for (const Batch::Query& q : batch.queries) {
      rows.assign(batch.rows.begin() + static_cast<std::ptrdiff_t>(q.begin),
                  batch.rows.begin() + static_cast<std::ptrdiff_t>(q.end));
      measure_rows(scores_, worker, q.query, rows, q.may_repeat, [this](const Row&) { return name_; });
    }
  }

  Scores& scores_;
  const Plan& plan_;
  const std::string& name_;
  Worker own_;
  std::vector<Row> rows_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
  bool finished_ = false;
  std::exception_ptr error_;
  uint32_t error_at_ = 0;
};

}  // namespace

std::unique_ptr<Qrels> qrels_from_dict(nb::dict table, std::string name, bool typed) {
  QrelsBuilder builder;
  Arena arena;
  IdReader query_id("query", name, arena), doc_id("document", name, arena);
  PyObject *query, *docs;
  Py_ssize_t place = 0;
  uint64_t row = 0;
  while (PyDict_Next(table.ptr(), &place, &query, &docs)) {
    const Bytes id = query_id(query);
    if (!is_mapping(docs))
      bad_input("expected the judgments of query " + python_repr(query) + ", got " + python_repr(docs), name,
                "judgments are {query: {document: gain}}");
    const auto add = [&](PyObject* doc, PyObject* gain) {
      builder.add(id, doc_id(doc), number(gain, Table::qrels, query, doc, name), ++row);
    };
    PyObject *doc, *gain;
    Py_ssize_t doc_place = each_plain_member(docs, 0, add);
    while (PyDict_Next(docs, &doc_place, &doc, &gain)) add(doc, gain);
  }
  if (builder.empty()) bad_input("the judgments are empty", name);
  auto qrels = builder.finish(std::move(name), false);
  if (typed) qrels->query_kind = query_id.kind(), qrels->doc_kind = doc_id.kind();
  return qrels;
}

std::unique_ptr<Qrels> qrels_from_rows(nb::sequence rows, std::string name) {
  QrelsBuilder builder;
  Arena arena;
  IdReader query_id("query", name, arena), doc_id("document", name, arena);
  IdReader target_id("target", name, arena), aspect_id("aspect", name, arena);
  uint64_t row_number = 0;
  for (nb::handle row : rows) {
    nb::object fields = nb::steal(PySequence_Fast(row.ptr(), "a row is a sequence"));
    if (!fields.is_valid()) throw nb::python_error();
    const size_t n = nb::len(fields);
    if (n < 3)
      bad_input("the row " + python_repr(row.ptr()) + " has fewer than three fields", name,
                "rows are (query, document, gain)");
    const nb::object query = fields[0], doc = fields[1], gain = fields[2];
    Bytes target, aspect;
    nb::object target_object, aspect_object;
    if (n > 3 && !(target_object = fields[3]).is_none()) target = target_id(target_object.ptr());
    if (n > 4 && !(aspect_object = fields[4]).is_none()) aspect = aspect_id(aspect_object.ptr());
    builder.add(query_id(query.ptr()), doc_id(doc.ptr()),
                number(gain.ptr(), Table::qrels, query.ptr(), doc.ptr(), name), ++row_number, target, aspect);
  }
  if (builder.empty()) bad_input("the judgments are empty", name);
  auto qrels = builder.finish(std::move(name), false);
  qrels->query_kind = query_id.kind();
  qrels->doc_kind = doc_id.kind();
  return qrels;
}

namespace {

/// Walks a run; `use` receives each judged query, whose rows start at `begin` in `rows`.
template <class Use>
void walk(nb::dict run, bool typed, bool skip_bad, Scores& scores, std::vector<Row>& rows, const std::string& name,
          Arena& arena, Use&& use) {
  IdReader query_id("query", name, arena), doc_id("document", name, arena);
  const Qrels& qrels = *scores.qrels;
  Scored scored(name);
  PyObject *query, *docs;
  Py_ssize_t place = 0;
  while (PyDict_Next(run.ptr(), &place, &query, &docs)) {
    const Bytes id = query_id(query);
    const uint32_t q = qrels.find(id);
    const size_t begin = rows.size();
    const bool may_repeat = for_each_document(
        query, docs, name, scored,
        [&](size_t n) {
          if (rows.capacity() < begin + n) rows.reserve(std::max(begin + n, 2 * rows.capacity()));
        },
        [&](PyObject* doc, PyObject* score) {
          const auto add = [&] {
            const Bytes text = doc_id(doc);
            rows.push_back(
                {hash_bytes(text), text, number(score, Table::run, query, doc, name), QueryJudgments::unjudged});
          };
          if (skip_bad) or_skipped(scores.bad, add);
          else add();
        });
    scores.documents += rows.size() - begin;
    if (q == IdTable::none) {
      if (scores.unjudged_queries++ == 0) scores.unjudged_example = id;
      rows.resize(begin);
    } else {
      use(q, begin, may_repeat);
    }
  }
  if (typed) require_same_kinds(qrels, query_id, doc_id, name);
}

}  // namespace

Scores evaluate_dict(std::shared_ptr<const Qrels> qrels, nb::dict run, const Plan& plan, unsigned threads,
                     const std::string& name, bool typed) {
  Scores scores = empty_scores(std::move(qrels), plan);
  Arena arena;
  constexpr size_t few_queries = 16, rows_of_a_batch = 16000;
  if (nb::len(run) <= few_queries || threads <= 1 || plan.has_customs) {
    // Also for measures written in Python: they need the GIL, which this thread holds.
    Worker worker(*scores.qrels, plan);
    std::vector<Row> rows;
    walk(run, typed, plan.skip_bad, scores, rows, name, arena, [&](uint32_t q, size_t, bool may_repeat) {
      measure_rows(scores, worker, q, rows, may_repeat, [&](const Row&) { return name; });
      rows.clear();
    });
  } else {
    Measuring measuring(scores, plan, threads - 1, name);
    Batch batch;
    walk(run, typed, plan.skip_bad, scores, batch.rows, name, arena, [&](uint32_t q, size_t begin, bool may_repeat) {
      batch.queries.push_back({q, begin, batch.rows.size(), may_repeat});
      if (batch.rows.size() >= rows_of_a_batch) measuring.add(batch);
    });
    if (!batch.queries.empty()) measuring.add(batch);
    measuring.done();
  }
  return complete(std::move(scores), plan, name);
}

Scores evaluate_rows(std::shared_ptr<const Qrels> qrels, nb::sequence rows, const Plan& plan, const std::string& name) {
  Scores scores = empty_scores(qrels, plan);
  Arena arena;
  IdReader query_id("query", name, arena), doc_id("document", name, arena);
  std::vector<std::vector<Row>> by_query(qrels->size());
  std::vector<std::vector<uint64_t>> numbers(qrels->size());  // row numbers, from 1
  IdTable unjudged;
  uint64_t row_number = 0;
  const auto add = [&](nb::handle row) {
    nb::object fields = nb::steal(PySequence_Fast(row.ptr(), "a row is a sequence"));
    if (!fields.is_valid()) throw nb::python_error();
    if (nb::len(fields) < 3)
      bad_input("the row " + python_repr(row.ptr()) + " has fewer than three fields", name,
                "rows are (query, document, score)");
    const nb::object query = fields[0], doc = fields[1], score = fields[2];
    const Bytes id = query_id(query.ptr());
    const double value = number(score.ptr(), Table::run, query.ptr(), doc.ptr(), name);
    const Bytes doc_bytes = arena.keep(doc_id(doc.ptr()));
    ++scores.documents;
    const uint32_t q = qrels->find(id);
    if (q == IdTable::none) {
      unjudged.add(id);
      return;
    }
    by_query[q].push_back({hash_bytes(doc_bytes), doc_bytes, value, QueryJudgments::unjudged});
    numbers[q].push_back(row_number);
  };
  for (nb::handle row : rows) {
    ++row_number;
    if (plan.skip_bad) or_skipped(scores.bad, [&] { add(row); });
    else add(row);
  }
  scores.unjudged_queries = unjudged.size();
  if (unjudged.size()) scores.unjudged_example = unjudged[0];
  require_same_kinds(*qrels, query_id, doc_id, name);
  Worker worker(*qrels, plan);
  for (uint32_t q = 0; q < by_query.size(); ++q)
    if (!by_query[q].empty())
      measure_rows(scores, worker, q, by_query[q], true, [&](const Row& row) {
        return name + ", row " + std::to_string(numbers[q][static_cast<size_t>(&row - by_query[q].data())]);
      });
  return complete(std::move(scores), plan, name);
}

}  // namespace gg
