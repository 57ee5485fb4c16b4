#include <cstdio>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/report/report.h"
#include "cli/terminal/printable.h"

namespace plimsoll::cli {

int inspect(const Options& options) {
  const Engine engine = Engine::create({});
  const ModelInfo info = engine.open(options.model).info();
  OutputFile file(options.json.empty() ? "-" : options.json);
  file.write(options.json.empty() ? printable(inspection_text(info))
                                  : inspection_json(info, Engine::kernel_memory()));
  file.close();
  return exit_code::done;
}

}  // namespace plimsoll::cli
