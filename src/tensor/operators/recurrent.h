// What RNN, GRU and LSTM share: shapes, layouts, lengths of sequences, and the products of inputs
// and states with weights. Why it exists: the three differ only in what happens to the gates. May
// touch: operator.h, checks.h, recurrent_activation.h.
//
//   layout 0   X steps×batch×inputs   Y steps×directions×batch×hidden   states directions×batch×…
//   layout 1   X batch×steps×inputs   Y batch×steps×directions×hidden   states batch×directions×…
//   W directions×(gates·hidden)×inputs, R directions×(gates·hidden)×hidden,
//   B directions×(2·gates·hidden): those of W, then those of R
//
// A sequence of length L is read from 0 to L − 1, backwards from L − 1 to 0. Positions from L on
// give zeros; the last state is that after L steps.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/operators/checks.h"
#include "tensor/operators/recurrent_activation.h"

namespace plimsoll::tensor {

struct RecurrentShape {
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::int64_t inputs = 0;
  std::int64_t hidden = 0;
  std::int64_t directions = 1;
  std::int64_t gates = 1;
  bool batch_first = false;      ///< layout 1
  bool first_backwards = false;  ///< direction 'reverse'

  [[nodiscard]] std::int64_t input_offset(std::int64_t time, std::int64_t n) const {
    return (batch_first ? n * steps + time : time * batch + n) * inputs;
  }
  [[nodiscard]] std::int64_t output_offset(std::int64_t time, std::int64_t direction,
                                           std::int64_t n) const {
    return (batch_first ? (n * steps + time) * directions + direction
                        : (time * directions + direction) * batch + n) *
           hidden;
  }
  [[nodiscard]] std::int64_t state_offset(std::int64_t direction, std::int64_t n) const {
    return (batch_first ? n * directions + direction : direction * batch + n) * hidden;
  }
  /// Steps whose inputs are multiplied with W at once, so that W is read from memory less often.
  [[nodiscard]] std::int64_t chunk() const {
    const std::int64_t wanted = 32 / std::max<std::int64_t>(1, batch);
    return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, std::min(steps, wanted)));
  }
};

/// Throws Error(bad_input) where the shapes do not fit each other or the attributes.
[[nodiscard]] RecurrentShape recurrent_shape(const Node& node, const Shape& x, const Shape& r,
                                             std::int64_t gates);
/// Checks the inputs that the three have in common, and declares the outputs: Y, the last h, and
/// the last c where there is a third.
RecurrentShape infer_recurrent(InferContext& context, std::int64_t gates, std::size_t most_inputs);

/// Scratch of one run, in order: `width` biases, gates of `width` for a chunk of steps, and
/// `states` states of a batch. The numbers are in Compute<T>.
[[nodiscard]] std::uint64_t recurrent_scratch(const InferContext& context,
                                              const RecurrentShape& shape, std::int64_t width,
                                              std::int64_t states);

/// sums[0 … 3] += four rows (`stride` apart) times one vector. Eight products go side by side, so
/// that the loop vectorises without reordering additions at the compiler's will.
template <typename T, typename V, typename C>
void add_four_dots(const T* rows, std::int64_t stride, const V* vector, std::int64_t depth,
                   C* sums) {
  constexpr std::size_t lanes = 8;
  std::array<std::array<C, lanes>, 4> partial{};
  std::int64_t k = 0;
  for (; k + static_cast<std::int64_t>(lanes) <= depth; k += static_cast<std::int64_t>(lanes)) {
    for (std::size_t row = 0; row < 4; ++row) {
      const T* from = rows + static_cast<std::int64_t>(row) * stride + k;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        partial[row][lane] += load(from[lane]) * load(vector[k + static_cast<std::int64_t>(lane)]);
      }
    }
  }
  for (std::size_t row = 0; row < 4; ++row) {
    auto& own = partial[row];
    for (std::int64_t rest = k; rest < depth; ++rest) {
      own[static_cast<std::size_t>(rest - k)] +=
          load(rows[static_cast<std::int64_t>(row) * stride + rest]) * load(vector[rest]);
    }
    sums[row] += ((own[0] + own[4]) + (own[1] + own[5])) + ((own[2] + own[6]) + (own[3] + own[7]));
  }
}

template <typename T, typename V, typename C>
void add_dot(const T* row, const V* vector, std::int64_t depth, C* sum) {
  constexpr std::size_t lanes = 8;
  std::array<C, lanes> own{};
  std::int64_t k = 0;
  for (; k + static_cast<std::int64_t>(lanes) <= depth; k += static_cast<std::int64_t>(lanes)) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t at = k + static_cast<std::int64_t>(lane);
      own[lane] += load(row[at]) * load(vector[at]);
    }
  }
  for (std::int64_t rest = k; rest < depth; ++rest) {
    own[static_cast<std::size_t>(rest - k)] += load(row[rest]) * load(vector[rest]);
  }
  *sum += ((own[0] + own[4]) + (own[1] + own[5])) + ((own[2] + own[6]) + (own[3] + own[7]));
}

/// out[i · out_stride + row] += matrix[row] · vector_of(i) for `rows` rows and `count` vectors;
/// vectors that are null are left out. Parallel over rows: each is read once for all vectors.
template <typename T, typename C, typename VectorOf>
void add_products(kernels::ThreadPool& threads, const T* matrix, std::int64_t rows,
                  std::int64_t depth, std::int64_t count, const VectorOf& vector_of, C* out,
                  std::int64_t out_stride) {
  // Below some 16 Ki products waking a thread costs more than it saves.
  const std::int64_t work = std::max<std::int64_t>(1, depth * count * 4);
  const std::int64_t grain = std::max<std::int64_t>(1, (16 * 1024 + work - 1) / work);
  threads.parallel_for((rows + 3) / 4, grain, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t block = begin; block < end; ++block) {
      const std::int64_t first = block * 4;
      for (std::int64_t i = 0; i < count; ++i) {
        const auto* vector = vector_of(i);
        if (vector == nullptr) continue;
        C* sums = out + i * out_stride + first;
        if (first + 4 <= rows) {
          add_four_dots(matrix + first * depth, depth, vector, depth, sums);
        } else {
          for (std::int64_t row = first; row < rows; ++row) {
            add_dot(matrix + row * depth, vector, depth, sums + (row - first));
          }
        }
      }
    }
  });
}

/// One run of RNN, GRU or LSTM over elements of T. `width` is the number of gate values of one
/// batch item and step; W fills the first gates · hidden of them.
template <typename T>
class RecurrentRun {
 public:
  using C = Compute<T>;

  RecurrentRun(RunContext& context, const RecurrentShape& shape, std::int64_t width)
      : context_(context), shape_(shape), width_(width) {
    x_ = context.input(0).as<T>();
    w_ = context.input(1).as<T>();
    r_ = context.input(2).as<T>();
    y_ = context.has_output(0) ? context.output(0).as<T>() : nullptr;
    bias_ = reinterpret_cast<C*>(context.scratch().data());
    gates_ = bias_ + width;
    states_ = gates_ + shape.chunk() * shape.batch * width;
    longest_ = shape.steps;
    if (context.has_input(4)) read_lengths();
  }

  [[nodiscard]] kernels::ThreadPool& threads() const { return context_.threads(); }
  /// The input's elements of one direction; null where it is omitted.
  [[nodiscard]] const T* optional(std::size_t index, std::int64_t elements_each) const {
    return context_.has_input(index) ? context_.input(index).as<T>() + direction_ * elements_each
                                     : nullptr;
  }
  [[nodiscard]] const T* recurrence() const {
    return r_ + direction_ * shape_.gates * shape_.hidden * shape_.hidden;
  }
  [[nodiscard]] C* bias() const { return bias_; }  ///< what gates start with; `width` values
  [[nodiscard]] C* state(std::int64_t number, std::int64_t n) const {
    return states_ + (number * shape_.batch + n) * shape_.hidden;
  }
  [[nodiscard]] std::int64_t direction() const { return direction_; }

  /// Whether sequence n still runs at this step.
  [[nodiscard]] bool active(std::int64_t step, std::int64_t n) const { return step < length(n); }

  /// Runs all directions. `prepare()` sets the biases and first states of a direction.
  /// `step_body(step, gates)` finds W·x and the biases in the gates of each active sequence (gates
  /// + n · width) and updates the states, of which state 0 is h. `finish()` writes the last states.
  template <typename Prepare, typename StepBody, typename Finish>
  void run(const Prepare& prepare, const StepBody& step_body, const Finish& finish) {
    for (direction_ = 0; direction_ < shape_.directions; ++direction_) {
      prepare();
      const std::int64_t rows = shape_.gates * shape_.hidden;
      const T* w = w_ + direction_ * rows * shape_.inputs;
      for (std::int64_t first = 0; first < longest_; first += shape_.chunk()) {
        const std::int64_t count = std::min(shape_.chunk(), longest_ - first);
        for (std::int64_t i = 0; i < count * shape_.batch; ++i) {
          std::copy_n(bias_, width_, gates_ + i * width_);
        }
        add_products(
            threads(), w, rows, shape_.inputs, count * shape_.batch,
            [&](std::int64_t i) { return input_of(first + i / shape_.batch, i % shape_.batch); },
            gates_, width_);
        for (std::int64_t step = first; step < first + count; ++step) {
          step_body(step, gates_ + (step - first) * shape_.batch * width_);
          write_output(step);
        }
      }
      finish();
    }
  }

  /// State `number` from an input, or zeros.
  void start_state(std::int64_t number, std::size_t input) const {
    for (std::int64_t n = 0; n < shape_.batch; ++n) {
      C* to = state(number, n);
      if (!context_.has_input(input)) {
        std::fill_n(to, shape_.hidden, C{0});
        continue;
      }
      const T* from = context_.input(input).as<T>() + shape_.state_offset(direction_, n);
      for (std::int64_t j = 0; j < shape_.hidden; ++j) to[j] = load(from[j]);
    }
  }
  void write_state(std::int64_t number, std::size_t output) const {
    if (!context_.has_output(output)) return;
    for (std::int64_t n = 0; n < shape_.batch; ++n) {
      T* to = context_.output(output).as<T>() + shape_.state_offset(direction_, n);
      const C* from = state(number, n);
      for (std::int64_t j = 0; j < shape_.hidden; ++j) to[j] = store<T>(from[j]);
    }
  }

  /// gates[n] (from `column` on) += R's rows from `row` on times a state, for active sequences.
  void add_recurrence(std::int64_t step, std::int64_t row, std::int64_t rows, std::int64_t number,
                      C* gates, std::int64_t column) const {
    add_products(
        threads(), recurrence() + row * shape_.hidden, rows, shape_.hidden, shape_.batch,
        [&](std::int64_t n) -> const C* { return active(step, n) ? state(number, n) : nullptr; },
        gates + column, width_);
  }

  /// Calls body(n) for the active sequences, in parallel.
  template <typename F>
  void for_each_active(std::int64_t step, const F& body) const {
    const std::int64_t grain =
        std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, shape_.hidden));
    threads().parallel_for(shape_.batch, grain, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t n = begin; n < end; ++n) {
        if (active(step, n)) body(n);
      }
    });
  }

 private:
  void read_lengths() {
    lengths_ = context_.input(4).as<std::int32_t>();
    longest_ = 0;
    for (std::int64_t n = 0; n < shape_.batch; ++n) {
      if (lengths_[n] < 0 || lengths_[n] > shape_.steps) {
        fail_input(fmt::format("sequence {} has length {}, which is not within {} steps", n,
                               lengths_[n], shape_.steps));
      }
      longest_ = std::max<std::int64_t>(longest_, lengths_[n]);
    }
    if (y_ != nullptr) std::fill_n(y_, context_.output(0).elements(), T{});
  }
  [[nodiscard]] std::int64_t length(std::int64_t n) const {
    return lengths_ == nullptr ? shape_.steps : lengths_[n];
  }
  [[nodiscard]] std::int64_t time(std::int64_t step, std::int64_t n) const {
    const bool backwards = shape_.first_backwards || direction_ == 1;
    return backwards ? length(n) - 1 - step : step;
  }
  [[nodiscard]] const T* input_of(std::int64_t step, std::int64_t n) const {
    return active(step, n) ? x_ + shape_.input_offset(time(step, n), n) : nullptr;
  }
  void write_output(std::int64_t step) const {
    if (y_ == nullptr) return;
    for (std::int64_t n = 0; n < shape_.batch; ++n) {
      if (!active(step, n)) continue;
      T* to = y_ + shape_.output_offset(time(step, n), direction_, n);
      const C* from = state(0, n);
      for (std::int64_t j = 0; j < shape_.hidden; ++j) to[j] = store<T>(from[j]);
    }
  }

  RunContext& context_;
  const RecurrentShape& shape_;
  std::int64_t width_;
  std::int64_t direction_ = 0;
  std::int64_t longest_ = 0;
  const std::int32_t* lengths_ = nullptr;
  const T* x_ = nullptr;
  const T* w_ = nullptr;
  const T* r_ = nullptr;
  T* y_ = nullptr;
  C* bias_ = nullptr;
  C* gates_ = nullptr;
  C* states_ = nullptr;
};

/// Limits what goes into the activations: attribute 'clip'.
template <typename C>
void clip_values(std::optional<float> limit, C* values, std::int64_t count) {
  if (!limit) return;
  const auto bound = static_cast<C>(*limit);
  for (std::int64_t i = 0; i < count; ++i) values[i] = std::clamp(values[i], -bound, bound);
}
[[nodiscard]] std::optional<float> clip_limit(const Node& node);

void register_lstm(OperatorTable& table);
void register_gru(OperatorTable& table);

}  // namespace plimsoll::tensor
