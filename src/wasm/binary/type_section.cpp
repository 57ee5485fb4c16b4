// The type section: rec groups of (sub)types. Structs and arrays are refused by name.
#include <fmt/format.h>

#include "wasm/binary/implementation_limits.h"
#include "wasm/binary/sections.h"
#include "wasm/binary/type_reader.h"

namespace plimsoll::wasm {
namespace {

constexpr std::uint8_t code_rec = 0x4E;
constexpr std::uint8_t code_sub_final = 0x4F;
constexpr std::uint8_t code_sub = 0x50;
constexpr std::uint8_t code_array = 0x5E;
constexpr std::uint8_t code_struct = 0x5F;
constexpr std::uint8_t code_function = 0x60;

class TypeSectionReader {
 public:
  TypeSectionReader(ByteReader& reader, Module& module, FeatureUse& features)
      : reader_(reader), types_(module.types), features_(features) {}

  void read() {
    const std::uint32_t entries = reader_.count(limits::types, "the number of types");
    for (std::uint32_t entry = 0; entry < entries; ++entry) {
      const std::uint64_t offset = reader_.offset();
      std::uint32_t members = 1;
      if (reader_.peek("a type") == code_rec) {
        (void)reader_.byte("a type");
        features_.require(Feature::gc, offset, "a rec group");
        members =
            reader_.count(limits::recursion_group_types, "the number of types of a rec group");
      }
      if (members > limits::types - types_.size()) {
        fail_decode(offset, fmt::format("more types than the {} that are accepted", limits::types));
      }
      types_.begin_group(members);
      for (std::uint32_t member = 0; member < members; ++member) read_subtype();
      types_.end_group();
      check_supertypes(members, offset);
    }
    types_.shrink_to_fit();
  }

 private:
  void read_subtype() {
    const std::uint64_t offset = reader_.offset();
    const std::uint8_t code = reader_.peek("a type");
    if (code != code_sub && code != code_sub_final) {
      read_composite(no_index, true);
      return;
    }
    (void)reader_.byte("a type");
    features_.require(Feature::gc, offset, "a subtype");
    const std::uint32_t supers = reader_.count(limits::types, "the number of supertypes");
    std::uint32_t supertype = no_index;
    if (supers > 1) fail_decode(offset, "a type may have one supertype at most");
    if (supers == 1) supertype = read_supertype();
    read_composite(supertype, code == code_sub_final);
  }

  // Only now: what a member is below of may be declared by a later member of its group.
  void check_supertypes(std::uint32_t members, std::uint64_t offset) {
    for (std::uint32_t index = types_.size() - members; index < types_.size(); ++index) {
      const std::uint32_t supertype = types_[index].supertype;
      if (supertype == no_index || types_.matches_supertype(index)) continue;
      fail_decode(offset,
                  fmt::format("sub type {}: {} does not match its supertype {}: {}", index,
                              types_.describe(index), supertype, types_.describe(supertype)));
    }
  }

  std::uint32_t read_supertype() {
    const std::uint64_t offset = reader_.offset();
    const std::uint32_t supertype = reader_.u32("a type index");
    if (supertype >= types_.size()) {
      fail_decode(offset, fmt::format("unknown type {}: a supertype must come before", supertype));
    }
    if (types_[supertype].is_final) {
      fail_decode(offset, fmt::format("sub type: the supertype {} is final", supertype));
    }
    if (types_[supertype].depth >= limits::subtyping_depth) {
      fail_decode(offset,
                  fmt::format("more than the {} supertypes above each other that are accepted",
                              limits::subtyping_depth));
    }
    return supertype;
  }

  void read_composite(std::uint32_t supertype, bool is_final) {
    const std::uint64_t offset = reader_.offset();
    const std::uint8_t code = reader_.byte("a type");
    if (code == code_struct || code == code_array) {
      features_.require(Feature::gc, offset,
                        code == code_struct ? "a struct type" : "an array type");
      fail_not_implemented(offset, fmt::format("{} types of the feature 'gc' are not implemented",
                                               code == code_struct ? "struct" : "array"));
    }
    if (code != code_function) {
      fail_decode(offset,
                  fmt::format("malformed type {:#04x}: expected a function type (0x60)", code));
    }
    const std::uint32_t parameters = read_values(limits::parameters, "the number of parameters");
    const std::uint64_t results_offset = reader_.offset();
    const std::uint32_t results = read_values(limits::results, "the number of results");
    if (results > 1) {
      features_.require(Feature::multi_value, results_offset, "a function with several results");
    }
    types_.add_type(parameters, results, supertype, is_final);
  }

  std::uint32_t read_values(std::uint32_t most, const char* what) {
    const std::uint32_t count = reader_.count(most, what);
    TypeReader types(reader_, features_, types_, types_.group_end());
    for (std::uint32_t value = 0; value < count; ++value) {
      types_.add_value(types.value_type("a value type"));
    }
    return count;
  }

  ByteReader& reader_;
  TypeTable& types_;
  FeatureUse& features_;
};

}  // namespace

void read_type_section(ByteReader& reader, Module& module, FeatureUse& features) {
  TypeSectionReader(reader, module, features).read();
}

}  // namespace plimsoll::wasm
