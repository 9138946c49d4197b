// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// RUN/probes.csv: a line of titles ("time [s],P1.pressure [Pa],..."), then a line for each row of the probes. It only
// grows while a run goes on; a run that is resumed drops what a longer one wrote after the checkpoint, and writes the
// same again.
#pragma once
#include <stdio.h>
#include "world/probes.h"

// RH_USER when there is such a file that Rheo did not make. Reads only.
rh_code rh_probe_file_check(const char *folder, const char *material, rh_status *status);
// Opens it behind the rows that are the run's at `time` (s) and removes others. Of a run at its start all is removed;
// of one that was `begun` RH_USER when the file has other columns, which would be lost.
rh_code rh_probe_file_open(const char *folder, const char *material, const rh_probes *probes, double time, bool begun,
                           FILE **out, rh_status *status);
// The rows not yet forgotten. They are in the file when it is flushed.
rh_code rh_probe_file_write(FILE *file, const rh_probes *probes, rh_status *status);
