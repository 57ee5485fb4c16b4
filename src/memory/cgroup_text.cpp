#include "memory/cgroup_text.h"

#include <algorithm>

#include "memory/probe_text.h"

namespace plimsoll::memory {
namespace {

/// "memory" in "cpu,memory".
bool lists(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    if (take_until(controllers, ',') == wanted) return true;
  }
  return false;
}

/// Whether a path leaves its root: a ".." between slashes.
bool climbs(std::string_view path) {
  while (!path.empty()) {
    if (take_until(path, '/') == "..") return true;
  }
  return false;
}

/// mountinfo writes a blank, a tab, a newline and a backslash as a backslash and three octal
/// digits.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto digit = [&](std::size_t index) {
      const char c = index < text.size() ? text[index] : '\0';
      return c >= '0' && c <= '7' ? c - '0' : -1;
    };
    if (text[at] == '\\' && digit(at + 1) >= 0 && digit(at + 2) >= 0 && digit(at + 3) >= 0) {
      const int code = digit(at + 1) * 64 + digit(at + 2) * 8 + digit(at + 3);
      result += static_cast<char>(code & 0xFF);
      at += 3;
    } else {
      result += text[at];
    }
  }
  return result;
}

/// `own` relative to what the mount shows: empty for the mount itself.
std::string_view below(std::string_view own, std::string_view root) {
  if (root != "/") {
    const bool inside =
        own.starts_with(root) && (own.size() == root.size() || own[root.size()] == '/');
    // Outside of what is shown: a namespace's own path starts at its root already.
    if (inside) own.remove_prefix(root.size());
  }
  while (own.ends_with('/')) own.remove_suffix(1);
  return climbs(own) ? std::string_view{} : own;
}

/// What one level says.
struct Level {
  std::optional<std::uint64_t> limit;
  std::optional<std::uint64_t> used;
  std::optional<std::uint64_t> reclaimable;

  [[nodiscard]] std::uint64_t room() const {
    const std::uint64_t taken = used.value_or(0);
    const std::uint64_t held = taken - std::min(taken, reclaimable.value_or(0));
    return *limit - std::min(*limit, held);
  }
};

std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

Level read_level(int version, const std::string& path, const FileText& text_of) {
  const auto value = [&](const char* name) {
    return parse_cgroup_value(text_of(path + "/" + name));
  };
  const std::string stat = text_of(path + "/memory.stat");
  Level level;
  // v1's plain names count the group alone, those with total_ its children too, as its usage does.
  const bool v2 = version == 2;
  if (v2) {
    level.limit = smaller(value("memory.max"), value("memory.high"));
    level.used = value("memory.current");
  } else {
    // Where ancestors are not visible this is the only trace of their limit.
    auto inherited = parse_cgroup_stat(stat, "hierarchical_memory_limit");
    if (inherited && *inherited >= (std::uint64_t{1} << 62)) inherited.reset();
    level.limit = smaller(value("memory.limit_in_bytes"), inherited);
    level.used = value("memory.usage_in_bytes");
  }
  const auto active = parse_cgroup_stat(stat, v2 ? "active_file" : "total_active_file");
  const auto inactive = parse_cgroup_stat(stat, v2 ? "inactive_file" : "total_inactive_file");
  if (active && inactive && *active < (std::uint64_t{1} << 62) &&
      *inactive < (std::uint64_t{1} << 62)) {
    level.reclaimable = *active + *inactive;
  }
  return level;
}

}  // namespace

std::optional<std::uint64_t> parse_cgroup_value(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto value = leading_number(text);
  if (!value || *value >= (std::uint64_t{1} << 62)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_cgroup_stat(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (take_until(line, ' ') == name) return leading_number(line);
  }
  return std::nullopt;
}

std::vector<CgroupFolder> find_cgroup_folders(std::string_view cgroup, std::string_view mountinfo) {
  std::string_view own_v1;
  std::string_view own_v2;
  while (!cgroup.empty()) {  // "4:memory:/path" or "0::/path"
    std::string_view line = take_until(cgroup, '\n');
    const std::string_view hierarchy = take_until(line, ':');
    const std::string_view controllers = take_until(line, ':');
    if (!line.starts_with('/')) continue;
    if (hierarchy == "0" && controllers.empty()) own_v2 = line;
    if (lists(controllers, "memory")) own_v1 = line;
  }
  std::vector<CgroupFolder> v1_folders;
  std::vector<CgroupFolder> v2_folders;
  while (!mountinfo.empty()) {
    // "36 35 98:0 /root /mount options shared:1 - type source super-options"
    std::string_view line = take_until(mountinfo, '\n');
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view tail = line.substr(dash + 3);
    const std::string_view type = take_until(tail, ' ');
    static_cast<void>(take_until(tail, ' '));
    const bool v2 = type == "cgroup2" && !own_v2.empty();
    const bool v1 = type == "cgroup" && lists(tail, "memory") && !own_v1.empty();
    if (!v1 && !v2) continue;
    for (int skipped = 0; skipped < 3; ++skipped) static_cast<void>(take_until(line, ' '));
    const std::string root = unescaped(take_until(line, ' '));
    const std::string mount = unescaped(take_until(line, ' '));
    if (!mount.starts_with('/')) continue;
    std::string path = mount;
    path += below(v2 ? own_v2 : own_v1, root);
    (v2 ? v2_folders : v1_folders).push_back({v2 ? 2 : 1, mount, std::move(path)});
  }
  v1_folders.insert(v1_folders.end(), v2_folders.begin(), v2_folders.end());
  return v1_folders;
}

CgroupMemory read_cgroup(const std::vector<CgroupFolder>& folders, const FileText& text_of) {
  for (const CgroupFolder& folder : folders) {
    const bool v2 = folder.version == 2;
    std::string path = folder.path;
    std::optional<Level> tightest;
    std::optional<Level> nearest;  // the first that has files: the own group, where it is shown
    std::optional<std::uint64_t> peak;
    for (;;) {
      const Level level = read_level(folder.version, path, text_of);
      if (level.limit && (!tightest || level.room() < tightest->room())) tightest = level;
      if (level.used && !nearest) {
        nearest = level;
        peak = parse_cgroup_value(
            text_of(path + (v2 ? "/memory.peak" : "/memory.max_usage_in_bytes")));
      }
      if (path.size() <= folder.mount.size()) break;
      path.resize(std::max(path.rfind('/'), folder.mount.size()));
    }
    if (!tightest && !nearest) continue;
    const Level& level = tightest ? *tightest : *nearest;
    return {level.limit, level.used, level.reclaimable, peak, folder.version};
  }
  return {};
}

}  // namespace plimsoll::memory
