#include "cli/commands/wasm_wast_script.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands/wasm_spectest.h"
#include "cli/commands/wasm_wast_values.h"
#include "plimsoll/error.h"
#include "wasm/binary/validate.h"
#include "wasm/runtime/instance.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::json;
using wasm::Cell;

/// A command that cannot be judged: something it needs is not implemented.
struct Skipped {
  std::string reason;
};
/// A command that does not hold.
struct Failed {
  std::string why;
};

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_input(fmt::format("'{}' cannot be read", path.string()));
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

/// The part of a message that names what is missing: without place and context.
std::string reason_of(const std::string& message) {
  for (const char* mark : {"does not know ", ": "}) {
    const std::size_t at = message.rfind(mark);
    if (at != std::string::npos) return message.substr(at + std::char_traits<char>::length(mark));
  }
  return message;
}

class Script {
 public:
  Script(std::shared_ptr<wasm::Engine> engine, std::filesystem::path path)
      : engine_(std::move(engine)), path_(std::move(path)), store_(engine_) {
    registered_["spectest"] = make_spectest(store_);
  }

  WastTotals run() {
    Json script;
    try {
      std::ifstream file(path_);
      if (!file) fail_input(fmt::format("'{}' cannot be read", path_.string()));
      script = Json::parse(file);
      for (const Json& command : script.at("commands")) run_command(command);
    } catch (const nlohmann::json::exception& error) {
      fail_input(fmt::format("'{}' is no script of tests: {}", path_.string(), error.what()));
    }
    return std::move(totals_);
  }

 private:
  struct Named {
    wasm::Instance* instance = nullptr;
    std::string missing;  ///< why there is no instance
  };

  void run_command(const Json& command) {
    const std::string kind = command.at("type");
    try {
      perform(kind, command);
      ++totals_.passed[kind];
    } catch (const Skipped& skipped) {
      ++totals_.skipped[kind][skipped.reason];
    } catch (const Failed& failed) {
      totals_.failures.push_back(fmt::format("{}:{}: {}: {}",
                                             path_.parent_path().filename().string(),
                                             command.value("line", 0), kind, failed.why));
    }
  }

  void perform(const std::string& kind, const Json& command) {
    if (kind == "module") {
      make_current(instantiate(compile(command)), command.value("name", ""));
    } else if (kind == "module_definition") {
      definition_ = compile(command);
      if (command.contains("name")) definitions_[command.at("name")] = definition_;
    } else if (kind == "module_instance") {
      const auto found = definitions_.find(command.value("module", ""));
      make_current(instantiate(found == definitions_.end() ? definition_ : found->second),
                   command.value("instance", ""));
    } else if (kind == "register") {
      const Named named = find(command.value("name", ""));
      registered_names_[command.at("as")] = named;
    } else if (kind == "action") {
      (void)act(command.at("action"));
    } else if (kind == "assert_return") {
      assert_return(command);
    } else if (kind == "assert_trap" || kind == "assert_exhaustion") {
      assert_trap(command);
    } else if (kind == "assert_invalid" || kind == "assert_malformed") {
      assert_refused(command);
    } else if (kind == "assert_unlinkable") {
      assert_unlinkable(command);
    } else if (kind == "assert_uninstantiable") {
      assert_uninstantiable(command);
    } else {
      throw Skipped{"this kind of command"};
    }
  }

  [[nodiscard]] std::vector<std::byte> bytes_of(const Json& command) const {
    if (command.contains("binary_filename")) {
      return read_file(path_.parent_path() / std::string(command.at("binary_filename")));
    }
    if (command.value("module_type", "binary") != "binary") throw Skipped{"text"};
    return read_file(path_.parent_path() / std::string(command.at("filename")));
  }

  std::shared_ptr<const wasm::CodeModule> compile(const Json& command) {
    const std::string name = command.value("name", "");
    const std::vector<std::byte> bytes = bytes_of(command);
    try {
      auto compiled = wasm::CodeModule::compile(engine_, bytes);
      if (!compiled) lose(name, Failed{compiled.error().to_string()});
      return *compiled;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::unsupported) lose(name, Skipped{reason_of(error.message())});
      lose(name, Failed{error.message()});
    }
  }

  /// The module that would be current is not there: what uses it is skipped too.
  template <typename Reason>
  [[noreturn]] void lose(const std::string& name, const Reason& reason) {
    Named missing;
    if constexpr (std::is_same_v<Reason, Skipped>) {
      missing.missing = reason.reason;
    } else {
      missing.missing = "a module that failed";
    }
    current_ = missing;
    if (!name.empty()) named_[name] = missing;
    throw reason;
  }

  /// Throws Failed for a trap, Error for imports that do not match.
  wasm::Instance* instantiate(const std::shared_ptr<const wasm::CodeModule>& code) {
    const auto outcome = try_instantiate(code);
    if (outcome.trap != wasm::TrapKind::none) {
      throw Failed{fmt::format("instantiation trapped: {}", wasm::trap_message(outcome.trap))};
    }
    return outcome.instance;
  }

  wasm::Instance::Outcome try_instantiate(const std::shared_ptr<const wasm::CodeModule>& code) {
    const wasm::Module& module = code->module();
    std::vector<wasm::External> imports;
    for (const wasm::Import& import : module.imports) {
      imports.push_back(
          resolve(std::string(module.name(import.module)), std::string(module.name(import.field))));
    }
    auto outcome = wasm::Instance::create(store_, code, imports);
    if (!outcome) throw Failed{outcome.error().to_string()};
    return *outcome;
  }

  wasm::External resolve(const std::string& module, const std::string& field) {
    if (const auto host = registered_.find(module); host != registered_.end()) {
      const auto found = host->second.find(field);
      if (found != host->second.end()) return found->second;
    }
    if (const auto guest = registered_names_.find(module); guest != registered_names_.end()) {
      if (guest->second.instance == nullptr) throw Skipped{guest->second.missing};
      if (const auto found = guest->second.instance->find_export(field)) return *found;
    }
    fail_input(fmt::format("unknown import '{}'.'{}'", module, field));
  }

  void make_current(wasm::Instance* instance, const std::string& name) {
    current_ = {.instance = instance, .missing = {}};
    if (!name.empty()) named_[name] = current_;
  }

  Named find(const std::string& name) {
    if (name.empty()) return current_;
    const auto found = named_.find(name);
    if (found == named_.end()) throw Skipped{"a module that was not made"};
    return found->second;
  }

  struct Result {
    wasm::TrapKind trap = wasm::TrapKind::none;
    std::vector<Cell> cells;
    std::vector<wasm::ValueType> types;
  };

  Result act(const Json& action) {
    const Named named = find(action.value("module", ""));
    if (named.instance == nullptr) throw Skipped{named.missing};
    const std::string field = action.at("field");
    const auto found = named.instance->find_export(field);
    if (!found) throw Failed{fmt::format("nothing is exported as '{}'", field)};
    if (action.at("type") == "get") {
      const auto* global = std::get<wasm::GuestGlobal*>(*found);
      return {.trap = {}, .cells = {global->cell}, .types = {global->type.type}};
    }
    const auto* function = std::get<wasm::FunctionRecord*>(*found);
    std::vector<Cell> arguments;
    for (const Json& argument : action.at("args")) arguments.push_back(wast_value(argument));
    if (arguments.size() != store_.parameters_of(*function).size()) {
      throw Failed{fmt::format("'{}' takes another number of arguments", field)};
    }
    auto outcome = store_.call(*function, arguments);
    const auto types = store_.results_of(*function);
    return {.trap = outcome.trap,
            .cells = std::move(outcome.results),
            .types = {types.begin(), types.end()}};
  }

  void assert_return(const Json& command) {
    const Result result = act(command.at("action"));
    if (result.trap != wasm::TrapKind::none) {
      throw Failed{fmt::format("trapped: {}", wasm::trap_message(result.trap))};
    }
    const Json& expected = command.at("expected");
    if (expected.size() != result.cells.size()) {
      throw Failed{fmt::format("{} results, expected {}", result.cells.size(), expected.size())};
    }
    for (std::size_t index = 0; index < expected.size(); ++index) {
      if (wast_matches(expected[index], result.types[index], result.cells[index])) continue;
      throw Failed{fmt::format("result {} is {}, expected {}", index,
                               wast_describe(result.types[index], result.cells[index]),
                               expected[index].dump())};
    }
  }

  void expect_trap(wasm::TrapKind trap, const std::string& text) {
    if (trap == wasm::TrapKind::none) throw Failed{fmt::format("did not trap: {}", text)};
    const std::string found(wasm::trap_message(trap));
    if (!text.starts_with(found) && !found.starts_with(text)) {
      throw Failed{fmt::format("trapped with '{}', expected '{}'", found, text)};
    }
  }

  void assert_trap(const Json& command) {
    expect_trap(act(command.at("action")).trap, command.at("text"));
  }

  void assert_refused(const Json& command) {
    const std::vector<std::byte> bytes = bytes_of(command);
    try {
      const auto module =
          wasm::validate_module(engine_->budget(), engine_->settings().features, bytes);
      throw Failed{module ? std::string("accepted") : module.error().to_string()};
    } catch (const Error& error) {
      if (error.message().find("feature 'gc' are not implemented") != std::string::npos) {
        throw Skipped{reason_of(error.message())};
      }
    }
  }

  std::shared_ptr<const wasm::CodeModule> compile_unnamed(const Json& command) {
    try {
      auto compiled = wasm::CodeModule::compile(engine_, bytes_of(command));
      if (!compiled) throw Failed{compiled.error().to_string()};
      return *compiled;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::unsupported) throw Skipped{reason_of(error.message())};
      throw Failed{error.message()};
    }
  }

  void assert_unlinkable(const Json& command) {
    const auto code = compile_unnamed(command);
    try {
      (void)try_instantiate(code);
    } catch (const Error& error) {
      const std::string text = command.at("text");
      if (error.message().find(text) != std::string::npos) return;
      throw Failed{fmt::format("'{}', expected '{}'", error.message(), text)};
    }
    throw Failed{"it links"};
  }

  void assert_uninstantiable(const Json& command) {
    const auto code = compile_unnamed(command);
    expect_trap(try_instantiate(code).trap, command.at("text"));
  }

  std::shared_ptr<wasm::Engine> engine_;
  std::filesystem::path path_;
  wasm::Store store_;
  WastTotals totals_;
  Named current_{.instance = nullptr, .missing = "no module yet"};
  std::map<std::string, Named> named_;
  std::map<std::string, std::map<std::string, wasm::External>> registered_;
  std::map<std::string, Named> registered_names_;
  std::shared_ptr<const wasm::CodeModule> definition_;
  std::map<std::string, std::shared_ptr<const wasm::CodeModule>> definitions_;
};

}  // namespace

void WastTotals::add(const WastTotals& other) {
  for (const auto& [kind, count] : other.passed) passed[kind] += count;
  for (const auto& [kind, reasons] : other.skipped) {
    for (const auto& [reason, count] : reasons) skipped[kind][reason] += count;
  }
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

WastTotals run_wast_script(const std::shared_ptr<wasm::Engine>& engine, const std::string& path) {
  return Script(engine, path).run();
}

}  // namespace plimsoll::cli
