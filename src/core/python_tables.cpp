#include "python_tables.hpp"

#include <charconv>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "dict_members.hpp"
#include "error.hpp"
#include "plain_dicts.hpp"
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
      if (!number.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();  // Ctrl-C
        PyErr_Clear();
        refuse(id);
      }
      return arena_.keep(nb::cast<std::string>(nb::str(number)));
    }
    refuse(id);
  }

  /// Takes note of a text that was read elsewhere.
  void has_read(const nb::object& text) {
    if (text.is_valid() && kind_ != IdKind::text) seen(IdKind::text, text.ptr());
  }
  IdKind kind() const { return kind_; }
  /// The repr of the first id.
  std::string example() const { return first_.is_valid() ? python_repr(first_.ptr()) : ""; }

 private:
  [[noreturn]] void refuse(PyObject* id) {
    bad_input(std::string("the ") + what_ + " id " + python_repr(id) + " must be text or an integer", name_,
              "convert ids first, for example with str()");
  }

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
      bad_input(std::string("the ") + what_ + " id " + python_repr(id) + " is not valid text", name_,
                "ids must be text that UTF-8 can hold");
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

/// A finite number; otherwise an error that names the place. May run a `__float__`, so the caller owns the objects.
double number(PyObject* value, Table table, PyObject* query, PyObject* doc, const std::string& name) {
  double result;
  if (PyFloat_CheckExact(value)) {
    result = PyFloat_AsDouble(value);
  } else {
    result = PyUnicode_Check(value) || is_no_number(value) ? std::nan("") : PyFloat_AsDouble(value);
    if (PyErr_Occurred()) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw nb::python_error();  // Ctrl-C
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

[[noreturn]] void changed_while_read(const std::string& what, const std::string& name) {
  bad_input("the " + what + " changed while it was being read", name,
            "pass a copy, or change it when the call has returned");
}

/// The members of a dictionary in order, owned, because reading them may run Python code that changes it.
class Members {
 public:
  Members(PyObject* table, const std::string& name) : table_(table), size_(PyDict_Size(table)), name_(name) {}

  /// The first members, as long as they are plain text and numbers; other threads may run in `pause`.
  template <class Use, class Pause>
  void each_plain(Use&& use, Pause&& pause) {
    place_ = each_plain_member(table_, place_, use, [&] {
      pause();
      require_unchanged();
    });
  }

  bool next() {
    require_unchanged();
    return next_member(table_, place_, key, value);
  }

  nb::object key, value;

 private:
  void require_unchanged() const {
    if (PyDict_Size(table_) != size_) changed_while_read("dictionary", name_);
  }

  PyObject* table_;
  Py_ssize_t size_, place_ = 0;
  const std::string& name_;
};

/// A (doc, score) pair.
std::pair<nb::object, nb::object> pair_of(PyObject* item, const std::string& name) {
  if (PyTuple_Check(item) && PyTuple_Size(item) == 2)
    return {nb::borrow(PyTuple_GetItem(item, 0)), nb::borrow(PyTuple_GetItem(item, 1))};
  if (PyList_Check(item) && PyList_Size(item) == 2) {
    nb::object doc = list_item(item, 0), score = list_item(item, 1);
    if (doc.is_valid() && score.is_valid()) return {std::move(doc), std::move(score)};
  }
  bad_input("expected a (document, score) pair, got " + python_repr(item), name,
            "expected {query: {document: score}} or {query: [(document, score), ...]}");
}

bool is_id(PyObject* item) { return PyUnicode_Check(item) || (PyIndex_Check(item) && !PyBool_Check(item)); }

/// Whether the documents of a dictionary have scores; some with and some without is an error.
class Scored {
 public:
  explicit Scored(const std::string& name) : name_(name) {}

  void see(PyObject* query, PyObject* docs, bool scored) {
    if (!query_.is_valid()) query_ = nb::borrow(query), scored_ = scored;
    if (scored == scored_) return;
    const bool is_first = query == query_.ptr();
    const std::string which =
        is_first ? "document " + python_repr(docs) + " of query " + python_repr(query) : "query " + python_repr(query);
    bad_input(which + (scored ? " has scores, but " : " has no scores, but ") +
                  (is_first ? "the first one" : "query " + python_repr(query_)) + (scored ? " has none" : " has them"),
              name_, "a run has scores for all of its documents, or lists in rank order");
  }

 private:
  const std::string& name_;
  nb::object query_;  // the first one with documents
  bool scored_ = true;
};

/// Calls use(doc, value) for the documents of one query, in a dictionary, as pairs, or as ids in rank order, after
/// expect(count). Other threads may run in pause(). Returns whether documents may repeat.
template <class Expect, class Use, class Pause>
bool for_each_document(PyObject* query, PyObject* docs, const std::string& name, Scored& scored, Expect&& expect,
                       Use&& use, Pause&& pause) {
  if (is_mapping(docs)) {
    expect(static_cast<size_t>(PyDict_Size(docs)));
    if (PyDict_Size(docs)) scored.see(query, docs, true);
    Members members(docs, name);
    members.each_plain(use, pause);
    for (; members.next(); pause()) use(members.key.ptr(), members.value.ptr());
    return false;
  }
  if (PyList_Check(docs) || PyTuple_Check(docs)) {
    expect(static_cast<size_t>(PySequence_Size(docs)));
    for (Py_ssize_t i = 0; i < PySequence_Size(docs); ++i) {
      const nb::object item = PyList_Check(docs) ? list_item(docs, i) : nb::borrow(PyTuple_GetItem(docs, i));
      if (!item.is_valid()) changed_while_read("list", name);
      scored.see(query, item.ptr(), !is_id(item.ptr()));
      if (is_id(item.ptr())) {
        const nb::float_ score(-static_cast<double>(i + 1));
        use(item.ptr(), score.ptr());
      } else {
        const auto [doc, value] = pair_of(item.ptr(), name);
        use(doc.ptr(), value.ptr());
      }
      pause();
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
  Arena ids;  // copies: another thread may change the dictionary
};

/// Measures batches on other threads while this one walks the dictionary.
class Measuring {
 public:
  Measuring(Scores& scores, const Plan& plan, unsigned workers, const std::string& name)
      : scores_(scores), plan_(plan), name_(name), own_(*scores.qrels, plan) {
    threads_.reserve(workers);
    try {
      for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // no more threads: those that started help
    }
  }

  ~Measuring() { finish(); }

  /// Hands a batch to a thread; if all are busy, measures it here. Without the GIL.
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
    batch.ids.clear();
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
      pause_point();
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

/// Numbers the documents of all judgments, without the GIL.
std::unique_ptr<Qrels> finished(QrelsBuilder& builder, std::string name) {
  if (builder.empty()) bad_input("the judgments are empty", name, "expected {query: {document: gain}} or rows");
  const Unlocked release;
  return builder.finish(std::move(name), false);
}

std::unique_ptr<Qrels> qrels_from_dict(nb::dict table, std::string name, bool typed) {
  QrelsBuilder builder;
  Arena arena;
  IdReader query_id("query", name, arena), doc_id("document", name, arena);
  uint64_t row = 0;
  Breather breathe;
  for (Members queries(table.ptr(), name); queries.next();) {
    PyObject *query = queries.key.ptr(), *docs = queries.value.ptr();
    const Bytes id = query_id(query);
    if (!is_mapping(docs))
      bad_input("expected the judgments of query " + python_repr(query) + ", got " + python_repr(docs), name,
                "judgments are {query: {document: gain}}");
    const auto add = [&](PyObject* doc, PyObject* gain) {
      builder.add(id, doc_id(doc), number(gain, Table::qrels, query, doc, name), ++row);
    };
    Members judged(docs, name);
    judged.each_plain(add, breathe);
    for (; judged.next(); breathe()) add(judged.key.ptr(), judged.value.ptr());
  }
  auto qrels = finished(builder, name);
  if (typed) qrels->query_kind = query_id.kind(), qrels->doc_kind = doc_id.kind();
  return qrels;
}

/// The fields of a row, as they are now: reading them may run Python code that changes the row.
nb::tuple fields_of(nb::handle row) {
  PyObject* fields = PySequence_Tuple(row.ptr());
  if (!fields) throw nb::python_error();
  return nb::steal<nb::tuple>(fields);
}

std::unique_ptr<Qrels> qrels_from_rows(nb::sequence rows, std::string name) {
  QrelsBuilder builder;
  Arena arena;
  IdReader query_id("query", name, arena), doc_id("document", name, arena);
  IdReader target_id("target", name, arena), aspect_id("aspect", name, arena);
  uint64_t row_number = 0;
  Breather breathe;
  for (nb::handle row : rows) {
    breathe();
    const nb::tuple fields = fields_of(row);
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
  auto qrels = finished(builder, name);
  qrels->query_kind = query_id.kind();
  qrels->doc_kind = doc_id.kind();
  return qrels;
}

namespace {

/// Walks a run; `use` receives each judged query, whose rows start at `begin` in `rows`. Ids are copied to `ids`, which
/// may be another object after each query. `before` is an example of what was read elsewhere.
template <class Use>
void walk(nb::dict run, bool typed, bool skip_bad, const TextIds& before, Scores& scores, std::vector<Row>& rows,
          Arena& ids, const std::string& name, Use&& use) {
  Arena numerals;
  IdReader query_id("query", name, numerals), doc_id("document", name, numerals);
  const Qrels& qrels = *scores.qrels;
  Scored scored(name);
  query_id.has_read(before.query);
  doc_id.has_read(before.doc);
  if (before.query.is_valid()) scored.see(before.query.ptr(), before.doc.ptr(), true);
  Breather breathe;
  for (Members queries(run.ptr(), name); queries.next();) {
    PyObject* query = queries.key.ptr();
    numerals.clear();
    const Bytes id = query_id(query);
    const uint32_t q = qrels.find(id);
    if (q == IdTable::none && scores.unjudged_queries++ == 0) scores.unjudged_example = id;
    const size_t begin = rows.size();
    const bool may_repeat = for_each_document(
        query, queries.value.ptr(), name, scored,
        [&](size_t n) {
          if (rows.capacity() < begin + n) rows.reserve(std::max(begin + n, 2 * rows.capacity()));
        },
        [&](PyObject* doc, PyObject* score) {
          const auto add = [&] {
            const Bytes doc_bytes = ids.keep(doc_id(doc));
            rows.push_back({hash_bytes(doc_bytes), doc_bytes, number(score, Table::run, query, doc, name),
                            QueryJudgments::unjudged});
          };
          if (skip_bad) or_skipped(scores.bad, add);
          else add();
        },
        breathe);
    scores.documents += rows.size() - begin;
    if (q == IdTable::none) rows.resize(begin);
    else use(q, begin, may_repeat);
  }
  if (typed) require_same_kinds(qrels, query_id, doc_id, name);
}

}  // namespace

namespace {

/// The memory of short calls, which the next one on this thread uses again: training loops make millions of them.
struct ShortCall {
  Worker worker;
  Batch batch;

  /// Python code that reading may run can call this again: then there is none to be had.
  static std::unique_ptr<ShortCall> take() {
    auto memory = std::move(spare);
    return memory ? std::move(memory) : std::make_unique<ShortCall>();
  }
  static void give_back(std::unique_ptr<ShortCall> memory) {
    constexpr size_t most_rows = 10'000;
    if (memory->batch.rows.capacity() <= most_rows) spare = std::move(memory);
  }

 private:
  static thread_local std::unique_ptr<ShortCall> spare;
};

thread_local std::unique_ptr<ShortCall> ShortCall::spare;

}  // namespace

namespace {

/// Whether measuring takes less time than reading, so that other threads of Python can wait for both.
bool is_quick(const Plan& plan) {
  constexpr size_t few_measures = 32;
  return plan.measures.size() <= few_measures && !plan.has_customs && !plan.lists && !plan.policy.bounds();
}

}  // namespace

bool is_plain_run(nb::handle run) {
  nb::object key, docs, score;
  Py_ssize_t query = 0, doc = 0;
  return PyDict_CheckExact(run.ptr()) && next_member(run.ptr(), query, key, docs) && PyDict_CheckExact(docs.ptr()) &&
         next_member(docs.ptr(), doc, key, score) && PyFloat_CheckExact(score.ptr());
}

Scores evaluate_dict(std::shared_ptr<const Qrels> qrels, nb::dict run, const Plan& plan, unsigned threads,
                     const std::string& name, bool typed) {
  Scores scores = empty_scores(std::move(qrels), plan);
  constexpr size_t few_queries = 16, rows_of_a_batch = 16000, few_rows = 1000;
  TextIds before;
  // Other threads may change the dictionary while they have the GIL; short ones are read in one go.
  if (nb::len(run) > few_queries) {
    run = nb::steal<nb::dict>(PyDict_Copy(run.ptr()));
    if (!run.is_valid()) throw nb::python_error();
    if (is_quick(plan)) run = measure_plain_queries(run, plan, threads, scores, before);
  }
  if (nb::len(run) <= few_queries || threads <= 1 || plan.has_customs) {
    auto memory = ShortCall::take();
    memory->worker.prepare(*scores.qrels, plan);
    std::vector<Row>& rows = memory->batch.rows;
    Arena& ids = memory->batch.ids;
    rows.clear();
    ids.clear();
    walk(run, typed, plan.skip_bad, before, scores, rows, ids, name, [&](uint32_t q, size_t, bool may_repeat) {
      const UnlockedIf release(rows.size() > few_rows);
      measure_rows(scores, memory->worker, q, rows, may_repeat, [&](const Row&) { return name; });
      rows.clear();
      ids.clear();
    });
    ShortCall::give_back(std::move(memory));
  } else {
    Batch batch;
    Measuring measuring(scores, plan, threads - 1, name);
    walk(run, typed, plan.skip_bad, before, scores, batch.rows, batch.ids, name,
         [&](uint32_t q, size_t begin, bool may_repeat) {
           batch.queries.push_back({q, begin, batch.rows.size(), may_repeat});
           if (batch.rows.size() < rows_of_a_batch) return;
           const Unlocked release;
           measuring.add(batch);
         });
    const Unlocked release;
    if (!batch.queries.empty()) measuring.add(batch);
    measuring.done();
  }
  const UnlockedIf release(scores.in_run.size() > few_rows);
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
    const nb::tuple fields = fields_of(row);
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
  Breather breathe;
  for (nb::handle row : rows) {
    breathe();
    ++row_number;
    if (plan.skip_bad) or_skipped(scores.bad, [&] { add(row); });
    else add(row);
  }
  scores.unjudged_queries = unjudged.size();
  if (unjudged.size()) scores.unjudged_example = unjudged[0];
  require_same_kinds(*qrels, query_id, doc_id, name);
  Worker worker(*qrels, plan);
  const Unlocked release;
  for (uint32_t q = 0; q < by_query.size(); ++q)
    if (pause_point(q); !by_query[q].empty())
      measure_rows(scores, worker, q, by_query[q], true, [&](const Row& row) {
        return name + ", row " + std::to_string(numbers[q][static_cast<size_t>(&row - by_query[q].data())]);
      });
  return complete(std::move(scores), plan, name);
}

}  // namespace gg
