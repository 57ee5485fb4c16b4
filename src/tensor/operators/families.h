// The families of operators. Why it exists: registration is explicit (no static constructors, which
// a static link may drop and which cost memory at start). May touch: operator.h.
#pragma once

namespace plimsoll::tensor {

class OperatorTable;

void register_elementwise_unary(OperatorTable& table);
void register_elementwise_binary(OperatorTable& table);
void register_casting(OperatorTable& table);
void register_shaping(OperatorTable& table);
void register_indexing(OperatorTable& table);
void register_reduction(OperatorTable& table);
void register_generation(OperatorTable& table);
void register_linear_algebra(OperatorTable& table);
void register_convolution(OperatorTable& table);
void register_pooling(OperatorTable& table);
void register_normalization(OperatorTable& table);
void register_resizing(OperatorTable& table);
void register_recurrent(OperatorTable& table);
void register_quantization(OperatorTable& table);
void register_selection(OperatorTable& table);
void register_signal(OperatorTable& table);
void register_loss(OperatorTable& table);
void register_sequences(OperatorTable& table);

}  // namespace plimsoll::tensor
