#pragma once
/// Where the time of a stream goes, kernel by kernel: a mark behind each, and the time since the mark before is the
/// kernel's. Marks cost a microsecond each, so whole runs are a little slower with them.
///
///   Timeline timeline;
///   options.timeline = &timeline;               // of a path that trains one trial at a time
///   for (const Timeline::Line& line : timeline.lines()) { ... line.label, line.ms, line.count ... }
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

class Timeline {
 public:
  struct Line {
    std::string label;
    double ms = 0;
    std::size_t count = 0;
  };

  void mark(Stream& stream, const std::string& label) {
    marks_.emplace_back(label, std::make_unique<Event>());
    marks_.back().second->record(stream);
  }
  /// Requires that everything marked is done. By label, in order of first appearance.
  [[nodiscard]] std::vector<Line> lines() const {
    std::vector<Line> lines;
    std::map<std::string, std::size_t> at;
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      const auto [place, fresh] = at.emplace(marks_[i].first, lines.size());
      if (fresh) lines.push_back({marks_[i].first, 0, 0});
      lines[place->second].ms += Event::ms(*marks_[i - 1].second, *marks_[i].second);
      ++lines[place->second].count;
    }
    return lines;
  }

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Event>>> marks_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
