// The public API for models: one Engine with one limit, Models that own weights, Sessions that run.
// Why it exists: this is what a host program embeds; the command line uses nothing else.
// May touch: the other public headers.
//
//   auto engine = plimsoll::Engine::create({.memory_limit_bytes = 60 << 20});
//   auto model = engine.open("model.onnx");
//   auto session = model.new_session();
//   session.set_input("x", view);
//   auto outcome = session.run();            // std::expected<RunReport, Refusal>
//
// Faults are thrown as plimsoll::Error. Running out of the limit is a Refusal, returned. Engine,
// Model and Session are handles: copying a handle shares the object. Engine and Model may be used
// from several threads; a Session from one thread at a time. Weights that were encoded for one
// session serve all sessions of the model.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/error.h"
#include "plimsoll/refusal.h"
#include "plimsoll/tensor_view.h"

namespace plimsoll {

/// What to prefer where both fit under the limit.
enum class Policy : std::uint8_t {
  favor_speed,     ///< the fastest plan that fits
  favor_min_peak,  ///< the smallest peak, at the cost of time
};

/// The kernel targets of this build: what --target accepts.
[[nodiscard]] std::vector<std::string> target_names();

/// Called during anything that takes long. `fraction` is 0 to 1 within `phase`.
using Progress = std::function<void(std::string_view phase, double fraction)>;

struct EngineOptions {
  /// Absent: 0.8 × min(cgroup limit − its use, MemAvailable).
  std::optional<std::uint64_t> memory_limit_bytes = std::nullopt;
  /// false: the limit covers what the Engine adds. true: the whole process, with what it already
  /// holds.
  bool limit_covers_process = false;
  /// true, for a program that is there for this engine alone: the engine may tune malloc for the
  /// whole process and set RLIMIT_DATA, so that memory taken behind the ledger's back fails instead
  /// of breaking the limit. Needs limit_covers_process; does nothing in sanitizer builds. Create
  /// the engine before threads start.
  bool owns_process = false;
  int threads = 1;  ///< 1 to 64, per session
  Policy policy = Policy::favor_speed;
  /// Kernel target: "generic", "avx2", "avx512"; empty: the best this CPU has. Asking for one that
  /// the CPU lacks is an Error(usage).
  // Initialised in words, so that {.threads = 2} is no warning in a program that includes this.
  std::string target = {};  // NOLINT(readability-redundant-member-init)
  Progress progress = {};   // NOLINT(readability-redundant-member-init)
};

/// A dimension of a declared input or output: a number, or −1 with a symbol that may be empty.
struct DimensionInfo {
  std::int64_t value = -1;
  std::string symbol;
};
struct ValueInfo {
  std::string name;
  ElementType element = ElementType::undefined;
  std::optional<std::vector<DimensionInfo>> dimensions;  ///< absent: rank unknown
  bool is_sequence = false;
};
struct WeightInfo {
  std::string name;
  ElementType element = ElementType::undefined;
  Shape shape;
  std::uint64_t source_bytes = 0;
  std::string source;  ///< "model.onnx:1234+56", "inline", "splat"
};
struct ModelInfo {
  std::string path;
  std::string producer;
  std::int64_t ir_version = 0;
  std::map<std::string, int> opsets;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::map<std::string, std::int64_t> operators;  ///< "Conv" or "com.microsoft.Gelu" → uses
  std::vector<std::string> unsupported;           ///< operators that this build cannot run
  std::vector<WeightInfo> weights;
};

enum class Verdict : std::uint8_t { fits, fits_with_measures, fits_so_far, does_not_fit };
[[nodiscard]] std::string_view verdict_name(Verdict verdict) noexcept;  ///< "fits-with-measures" …

struct PhaseReport {
  std::string name;
  std::uint64_t predicted_peak_bytes = 0;
  std::uint64_t kernel_peak_bytes = 0;  ///< 0 in a plan
  double seconds = 0;
};
struct WeightReport {
  std::string name;
  std::string encoding;   ///< "f32 panels 16", "f32 plain" …
  std::string residency;  ///< "resident", "streamed", "mapped"
  std::uint64_t source_bytes = 0;
  std::uint64_t encoded_bytes = 0;
};
/// What will happen, decided before anything large is done. Bytes are those of the limit: with the
/// base of the process where the limit covers it.
struct PlanReport {
  Verdict verdict = Verdict::fits;
  std::string stage;                  ///< for fits_so_far: what cannot be known yet
  std::vector<std::string> measures;  ///< sentences
  std::uint64_t limit_bytes = 0;
  std::string limit_source;  ///< "option", "cgroup", "available"
  std::uint64_t base_bytes = 0;
  std::uint64_t smallest_workable_limit_bytes = 0;
  std::uint64_t predicted_peak_bytes = 0;
  std::vector<PhaseReport> phases;
  std::uint64_t weights_source_bytes = 0;
  std::uint64_t weights_encoded_bytes = 0;
  std::uint64_t window_bytes = 0;
  std::uint64_t mapped_bytes = 0;
  std::uint64_t streamed_bytes = 0;
  std::uint64_t activation_bytes = 0;
  std::vector<WeightReport> weights;
  std::string target;
  int threads = 1;
};
struct NodeProfile {
  std::string name;
  std::string op;
  double begin_seconds = 0;
  double seconds = 0;
  std::uint64_t output_bytes = 0;
};
struct RunReport {
  double load_seconds = 0;  ///< encoding weights; 0 when they were there
  double run_seconds = 0;
  std::vector<PhaseReport> phases;
  std::vector<NodeProfile> profile;  ///< only when asked for
};

/// Memory that a host program has not taken yet when it asks for a plan, bytes.
struct HostExpectation {
  std::uint64_t input_bytes = 0;    ///< held during the run
  std::uint64_t scratch_bytes = 0;  ///< taken while inputs are made and given back
};

/// Memory under the engine's limit for a host program's own tensors. Page-aligned, zeroed, given
/// back with its last owner.
struct HostMemory {
  std::shared_ptr<std::byte> data;
  std::uint64_t bytes = 0;
};

/// The kernel's own figures, bytes.
struct KernelMemory {
  std::uint64_t peak_bytes = 0;         ///< VmHWM
  std::uint64_t resident_bytes = 0;     ///< VmRSS
  std::uint64_t cgroup_peak_bytes = 0;  ///< counts page cache too: shown, judges nothing
};

class Model;
class Session;

class Engine {
 public:
  /// Throws Error(usage) for options out of range.
  [[nodiscard]] static Engine create(EngineOptions options = {});
  /// Reads the model's structure, not its weights. Throws Error(bad_input/unsupported).
  [[nodiscard]] Model open(const std::string& path) const;

  [[nodiscard]] std::uint64_t limit_bytes() const;
  [[nodiscard]] std::string limit_source() const;
  [[nodiscard]] std::uint64_t base_bytes() const;      ///< the process before any model
  [[nodiscard]] std::uint64_t reserved_bytes() const;  ///< the ledger's use now
  [[nodiscard]] std::string target() const;
  /// Inputs and outputs of a host program, counted under the limit.
  [[nodiscard]] std::expected<HostMemory, Refusal> allocate(std::uint64_t bytes,
                                                            std::string_view purpose) const;
  /// Names what the host program does next ("inputs"), in the timeline and the phases of reports.
  void begin_phase(std::string_view name) const;
  [[nodiscard]] static KernelMemory kernel_memory();
  /// For a host program that catches std::bad_alloc: what was reserved, and who asked last.
  [[nodiscard]] std::string explain_exhausted_heap() const;
  /// The timeline of reservations and kernel figures as an SVG picture. It says what ran and what
  /// was predicted (bytes), where given.
  [[nodiscard]] std::string timeline_svg(std::string_view title = {},
                                         std::uint64_t predicted_peak_bytes = 0) const;
  /// From any thread, and from a signal handler: runs in progress stop with Error(failure,
  /// "cancelled") at their next step. Their sessions can run again.
  void cancel() const;

  struct State;
  explicit Engine(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  friend struct EngineTestAccess;  // tests make the ledger refuse
  std::shared_ptr<State> state_;
};

class Model {
 public:
  [[nodiscard]] ModelInfo info() const;
  [[nodiscard]] Session new_session() const;

  struct State;
  explicit Model(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

class Session {
 public:
  /// Borrows `value` until it is replaced or the session ends; nothing is copied. Type and shape
  /// are checked against the declaration: Error(bad_input).
  void set_input(std::string_view name, ConstTensorView value);
  /// A sequence input, as its elements; borrowed like a tensor.
  void set_input_sequence(std::string_view name, const std::vector<ConstTensorView>& values);
  /// An optional input without a value.
  void set_input_absent(std::string_view name);
  /// For `plan` without values: only type and shape. Small inputs whose value decides shapes then
  /// end the plan early (fits_so_far).
  void set_input_shape(std::string_view name, ElementType type, const Shape& shape);
  /// The output is written to the caller's memory, which must be of its type and have room for it
  /// at run(): Error(usage). It must not overlap an input. No data: the session's memory again.
  void set_output(std::string_view name, TensorView destination);
  /// After each run the output becomes that input of the next run. It is computed in memory of the
  /// session, twice its size, and not copied, unless its size is only known after the run. The
  /// first run takes the input that was set. Throws Error(usage) for one that is bound already.
  void bind_state(std::string_view output, std::string_view input);

  /// Plans for the inputs as set. Cheap when only values changed. `expected`: what the host program
  /// will still take under the limit before the run.
  [[nodiscard]] PlanReport plan(const HostExpectation& expected = {});
  /// Plans if needed, encodes weights if needed, runs. A Refusal leaves the session as it was.
  [[nodiscard]] std::expected<RunReport, Refusal> run();
  void set_profiling(bool on);

  /// Valid until the next run, release_memory or the session's end. Throws Error(usage) before a
  /// run. output_sequence for sequence outputs.
  [[nodiscard]] ConstTensorView output(std::string_view name) const;
  [[nodiscard]] bool output_is_sequence(std::string_view name) const;
  [[nodiscard]] std::vector<ConstTensorView> output_sequence(std::string_view name) const;
  /// Gives activation memory (outputs too) back to the kernel. States and encoded weights stay.
  void release_memory();

  struct State;
  explicit Session(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

}  // namespace plimsoll
