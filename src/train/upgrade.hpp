#pragma once
/// What the configurations of earlier versions mean today, so that their runs go on as what they were.
///
///   RunConfig config = …;                  // of a run that 0.1.0 began with --engine cpu-xsmm
///   upgrade(config, &notes);               // its engine is cpu now, and a note says so
#include "train/config.hpp"

namespace tyche::train {

/// Changes what no longer is: engines that are gone, and options that 0.1.0 took and did not look at (refused today),
/// which become their defaults. Edge labels, which 0.1.0 did not read, stay unread. `notes` may be null.
void upgrade(RunConfig& config, Notes* notes);

}  // namespace tyche::train
