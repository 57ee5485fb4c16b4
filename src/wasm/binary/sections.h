// Readers of the sections that are read whole: all but code, data and custom sections, which
// module_decoder.h reads piece by piece. Why it exists: one section, one function, one file where
// it is long. May touch: module.h, type_reader.h, constant_expression.h.
//
// Each takes a reader over exactly the section's contents and fills the module; what is left over
// is the caller's to refuse. All throw Error(bad_input) with the offset, and OutOfBudget.
#pragma once

#include "wasm/binary/byte_reader.h"
#include "wasm/binary/features.h"
#include "wasm/binary/module.h"

namespace plimsoll::wasm {

void read_type_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_import_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_function_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_table_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_memory_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_tag_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_global_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_export_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_start_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_element_section(ByteReader& reader, Module& module, FeatureUse& features);
void read_data_count_section(ByteReader& reader, Module& module, FeatureUse& features);

/// What stands before the bytes of a data segment, its size included.
struct DataSegmentHeader {
  DataSegment segment;
  std::span<const std::byte> offset_expression;  ///< not yet in the pool: reading may be repeated
  std::uint32_t size = 0;
};
[[nodiscard]] DataSegmentHeader read_data_segment_header(ByteReader& reader, const Module& module,
                                                         FeatureUse& features);

}  // namespace plimsoll::wasm
