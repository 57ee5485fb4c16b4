// The element section, and what stands before the bytes of a data segment.
#include <fmt/format.h>

#include "wasm/binary/constant_expression.h"
#include "wasm/binary/implementation_limits.h"
#include "wasm/binary/sections.h"
#include "wasm/binary/type_reader.h"

namespace plimsoll::wasm {
namespace {

ValueType address_type(const Limits& limits) {
  return limits.is_64 ? i64_type : i32_type;
}

/// The flags of an element segment, by bit.
constexpr std::uint32_t not_active = 1;        // passive; with the next bit declared
constexpr std::uint32_t explicit_table = 2;    // of an active one
constexpr std::uint32_t with_expressions = 4;  // items are expressions

class ElementReader {
 public:
  ElementReader(ByteReader& reader, Module& module, FeatureUse& features)
      : reader_(reader), module_(module), features_(features) {}

  ElementSegment read() {
    const std::uint64_t offset = reader_.offset();
    const std::uint32_t flags = reader_.u32("the flags of an element segment");
    if (flags > 7) {
      fail_decode(offset,
                  fmt::format("malformed elements segment kind {}: expected 0 to 7", flags));
    }
    if (flags != 0)
      features_.require(Feature::bulk_memory, offset, "an element segment with flags");
    ElementSegment segment;
    segment.are_expressions = (flags & with_expressions) != 0;
    if ((flags & not_active) == 0) {
      segment.mode = ElementSegment::Mode::active;
      if ((flags & explicit_table) != 0) segment.table = reader_.u32("a table index");
      read_offset(segment, offset);
    } else {
      segment.mode = (flags & explicit_table) != 0 ? ElementSegment::Mode::declared
                                                   : ElementSegment::Mode::passive;
    }
    segment.type = read_item_type(flags);
    if (segment.mode == ElementSegment::Mode::active) {
      const ValueType element = module_.tables[segment.table].type.element;
      if (!module_.types.is_subtype(segment.type, element)) {
        fail_decode(offset, fmt::format("type mismatch: a segment of {} for a table of {}",
                                        to_string(segment.type), to_string(element)));
      }
    }
    read_items(segment);
    return segment;
  }

 private:
  void read_offset(ElementSegment& segment, std::uint64_t offset) {
    if (segment.table >= module_.tables.size()) {
      fail_decode(offset, fmt::format("unknown table {}: there are {}", segment.table,
                                      module_.tables.size()));
    }
    const ValueType address = address_type(module_.tables[segment.table].type.limits);
    segment.offset = take_constant_expression(reader_, module_, features_, address);
  }

  ValueType read_item_type(std::uint32_t flags) {
    const bool is_written = (flags & (not_active | explicit_table)) != 0;
    if ((flags & with_expressions) != 0) {
      if (!is_written) return funcref_type;
      return TypeReader(reader_, features_, module_.types, module_.types.size())
          .reference_type("the type of an element segment");
    }
    if (is_written) {
      const std::uint64_t offset = reader_.offset();
      if (reader_.byte("the kind of an element segment") != 0) {
        fail_decode(offset, "malformed element kind: expected 0 (functions)");
      }
    }
    return features_.allowed.has(Feature::function_references)
               ? ValueType::reference(HeapType::function, false)
               : funcref_type;
  }

  void read_items(ElementSegment& segment) {
    segment.count = reader_.count(limits::table_entries, "the number of elements");
    const std::byte* start = reader_.cursor();
    for (std::uint32_t index = 0; index < segment.count; ++index) {
      if (segment.are_expressions) {
        declare_functions(read_constant_expression(reader_, module_, features_, segment.type),
                          module_);
      } else {
        read_function();
      }
    }
    segment.items = module_.add_expression({start, reader_.cursor()});
  }

  void read_function() {
    const std::uint64_t offset = reader_.offset();
    const std::uint32_t function = reader_.u32("a function index");
    if (function >= module_.functions.size()) {
      fail_decode(offset, fmt::format("unknown function {}: there are {}", function,
                                      module_.functions.size()));
    }
    module_.declare(function);
  }

  ByteReader& reader_;
  Module& module_;
  FeatureUse& features_;
};

}  // namespace

void read_element_section(ByteReader& reader, Module& module, FeatureUse& features) {
  const std::uint32_t count =
      reader.count(limits::element_segments, "the number of element segments");
  for (std::uint32_t index = 0; index < count; ++index) {
    module.elements.push_back(ElementReader(reader, module, features).read());
  }
}

DataSegmentHeader read_data_segment_header(ByteReader& reader, const Module& module,
                                           FeatureUse& features) {
  const std::uint64_t offset = reader.offset();
  const std::uint32_t flags = reader.u32("the flags of a data segment");
  if (flags > 2) {
    fail_decode(offset, fmt::format("malformed data segment flag {}: expected 0 to 2", flags));
  }
  if (flags != 0) features.require(Feature::bulk_memory, offset, "a data segment with flags");
  DataSegmentHeader header;
  header.segment.is_active = flags != 1;
  if (flags == 2) header.segment.memory = reader.u32("a memory index");
  if (header.segment.is_active) {
    if (header.segment.memory >= module.memories.size()) {
      fail_decode(offset, fmt::format("unknown memory {}: there are {}", header.segment.memory,
                                      module.memories.size()));
    }
    const ValueType address = address_type(module.memories[header.segment.memory].limits);
    header.offset_expression = read_constant_expression(reader, module, features, address);
  }
  header.size = reader.u32("the size of a data segment");
  return header;
}

}  // namespace plimsoll::wasm
