// Runs one graph: stage by stage, planned steps and dynamic operators. Why it exists: it is what a
// session is made of, and what a Loop uses for its body. May touch: graph/specialize.h, plan/,
// encode/weight_store.h, memory/.
//
// Memory: one arena per stage; what a later stage or the caller still reads is copied out of it
// when another stage follows, and stays in it when none does. Everything is reserved in `budget`.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "memory/block.h"
#include "tensor/encode/weight_store.h"
#include "tensor/graph/specialize.h"
#include "tensor/operators/dynamic.h"
#include "tensor/plan/plan_choice.h"
#include "tensor/plan/stage_plan.h"
#include "tensor/run/operands.h"

namespace plimsoll::tensor {

/// Turns graph nodes into kernels before a stage is planned (plan/fusion.h); the options are its
/// own.
using Transform = std::function<void(Program&)>;

struct ExecutionServices {
  const OperatorTable* operators = nullptr;
  WeightStore* weights = nullptr;
  std::shared_ptr<memory::Budget> budget;
  kernels::ThreadPool* threads = nullptr;
  std::function<bool()> cancelled;  ///< asked before every step; may be empty
  std::function<void(std::string_view phase, double fraction)> progress;
  Transform transform;                                      ///< may be empty
  std::function<void(std::string_view phase)> begin_phase;  ///< may be empty
};

[[nodiscard]] inline std::size_t type_bytes(const TensorType& type) {
  return static_cast<std::size_t>(type.shape.elements()) * element_size(type.element);
}

/// An input or output of an execution. Tensors are borrowed views; sequences are shared.
struct ExecutionValue {
  TensorType type;
  const std::byte* data = nullptr;
  std::shared_ptr<const SequenceValue> sequence;  ///< set for sequences
  bool absent = false;                            ///< an empty optional
  std::shared_ptr<const OwnedTensor> owner;       ///< keeps `data` alive where set
};

struct StepProfile {
  std::string name;
  std::string op;
  double begin_seconds = 0;
  double seconds = 0;
  std::uint64_t output_bytes = 0;
};

/// What a run takes at most as far as it can be known before: see plan_ahead.cpp.
struct PlanAhead {
  bool complete = false;    ///< whatever branches are taken
  std::string waiting_for;  ///< where it is not
  std::uint64_t activation_bytes =
      0;                           ///< at one time: a stage's arena, and what is kept for others
  std::uint64_t weight_bytes = 0;  ///< encoded, of all stages
  std::vector<WeightUse> weights;
};

/// What a choice costs, at most.
struct PlanFigures {
  std::uint64_t activation_bytes = 0;
  std::uint64_t missing_weight_bytes = 0;  ///< resident ones that are not encoded yet
  std::uint64_t streamed_bytes = 0;        ///< encoded size of those that are not held
};

class Execution {
 public:
  Execution(std::shared_ptr<const Graph> graph, ExecutionServices services);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// Facts of input number `index` (graph.inputs order). A change of type, or of a small value,
  /// drops the plan.
  void set_input(std::size_t index, const ExecutionValue& value, bool value_known);
  /// The output is computed into this memory where the plan allows it, else copied there; no data:
  /// the execution's own. Bytes and type are checked once the output's are known: Error(usage).
  void set_output(std::size_t index, const TensorView& memory);
  /// Plans as if the output had memory, which must be set before the run.
  void expect_output_memory(std::size_t index);

  /// What is known before running: the first stage's plan. Cheap when nothing changed.
  [[nodiscard]] const StagePlan& plan_first_stage();
  /// Changes with everything that a plan depends on.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// Whether the first stage is the whole graph; else what the rest waits for.
  [[nodiscard]] bool complete_after_first_stage() const;
  [[nodiscard]] std::string waiting_for() const;
  /// Looks past the first stage, for a graph that is more: unknown branches take the larger.
  [[nodiscard]] PlanAhead plan_ahead(const PlanChoice& choice) const;

  /// The choice for all later plans. What is planned otherwise is planned again.
  void choose(const PlanChoice& choice);
  [[nodiscard]] const PlanChoice& choice() const { return choice_; }
  /// What a run would need under another choice, as far as it can be known. Remembered until the
  /// first stage's program changes.
  [[nodiscard]] PlanFigures figures(const PlanChoice& choice);
  /// The largest PlanChoice::streamed that makes a difference.
  [[nodiscard]] std::size_t streamable_weights();
  /// What the execution holds now and the next run uses again or gives back first.
  [[nodiscard]] std::uint64_t reusable_bytes() const;
  [[nodiscard]] Program& program();
  /// The type of output number `index`, once the first stage is planned and is the whole graph.
  [[nodiscard]] std::optional<TensorType> planned_output(std::size_t index) const;

  /// Encodes the first stage's weights that are not there yet.
  [[nodiscard]] std::expected<void, Refusal> load();
  [[nodiscard]] std::expected<void, Refusal> run();
  /// Whether the refusal of the last run() came when nothing more was to be planned: what it asked
  /// for was all that was missing.
  [[nodiscard]] bool refused_in_last_stage() const { return refused_in_last_stage_; }
  /// Outputs of the last run, in the graph's order; valid until the next run or release.
  [[nodiscard]] const std::vector<ExecutionValue>& outputs() const { return outputs_; }
  void release_memory();

  void set_profiling(bool on) { profiling_ = on; }
  [[nodiscard]] const std::vector<StepProfile>& profile() const { return profile_; }

 private:
  struct Stage;
  class DynamicNodeContext;
  /// Makes the first stage's program where there is none.
  void specialise();
  [[nodiscard]] StageOptions stage_options(bool first_stage) const;
  [[nodiscard]] StagePlan plan_program(const PlanChoice& choice);
  [[nodiscard]] std::expected<void, Refusal> prepare_window(const Stage& stage);
  void encode_streamed(const StageMemory& memory, const StagePlan& plan, const PlannedStep& step);
  [[nodiscard]] std::expected<void, Refusal> load(Stage& stage);
  [[nodiscard]] std::expected<void, Refusal> run_stage(Stage& stage, bool last);
  void run_steps(Stage& stage);
  void run_step(const StageMemory& memory, const StagePlan& plan, const PlannedStep& step,
                double origin);
  void run_kernel(const StageMemory& memory, const StagePlan& plan, const PlannedStep& step,
                  const KernelContext& context);
  void run_group(const StageMemory& memory, const StagePlan& plan, const PlannedGroup& group,
                 double origin);
  void add_profile(const ProgramNode& node, const PlannedStep& step, double begin, double seconds);
  void run_dynamic(const ProgramNode& node);
  void keep(ValueId id, std::shared_ptr<const OwnedTensor> tensor);
  void store(ValueId id, DynamicValue value);
  [[nodiscard]] std::vector<DynamicValue> run_body(const ProgramNode& node, const Graph& body,
                                                   std::vector<DynamicValue> inputs);
  void collect_outputs();
  [[nodiscard]] std::byte* external_memory(ValueId id) const;
  [[nodiscard]] std::shared_ptr<OwnedTensor> allocate(const TensorType& type,
                                                      std::string_view purpose);
  [[nodiscard]] DynamicValue dynamic_value(ValueId id);
  void check_cancelled() const;
  /// The last run's outputs stay where they are until the next run.
  void drop_plan();
  void change_plan();
  void forget_outputs();
  void set_facts(Instance& instance) const;
  /// Later stages may depend on the values of inputs, whatever their size.
  void reveal_inputs();
  void check_output(std::size_t index, const TensorType& type) const;

  std::shared_ptr<const Graph> graph_;
  ExecutionServices services_;
  std::vector<ExecutionValue> inputs_;
  std::vector<bool> input_known_;
  std::vector<TensorView> output_memory_;
  std::vector<bool> output_external_;  ///< has memory, or will
  std::vector<ExecutionValue> outputs_;
  std::unique_ptr<Instance> instance_;
  PlanChoice choice_;
  std::vector<std::pair<PlanChoice, PlanFigures>> figures_;  ///< of the program at hand
  std::uint64_t figures_weight_bytes_ = 0;                   ///< held when figures_ were made
  memory::Block window_;                                     ///< for streamed weights
  std::unique_ptr<Stage> first_;       ///< cached between runs while the inputs' facts stay
  std::unique_ptr<Stage> last_stage_;  ///< holds outputs where there was more than one stage
  /// Kept for outputs_ when the plan was dropped after the run.
  std::unique_ptr<Stage> outputs_stage_;
  std::unique_ptr<Instance> outputs_instance_;
  std::uint64_t version_ = 0;
  bool ran_past_first_ = false;
  bool refused_in_last_stage_ = false;
  struct BodyRun {
    std::unique_ptr<Execution> execution;
  };
  std::map<const Graph*, BodyRun> bodies_;                       ///< of loops, kept for their plans
  std::vector<std::shared_ptr<const OwnedTensor>> kept_;         ///< by program value
  std::vector<std::shared_ptr<const SequenceValue>> sequences_;  ///< by program value
  std::vector<bool> absent_optional_;                            ///< by program value
  double fraction_ = 0;                                          ///< of the steps, as last reported
  bool profiling_ = false;
  std::vector<StepProfile> profile_;
};

}  // namespace plimsoll::tensor
