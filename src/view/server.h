// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The viewer's server: one page and the frames of one run, over HTTP on the loopback interface.
//
// What it promises to whoever can reach the port: a fixed set of routes, none of which takes a path; GET and HEAD only;
// a Host header that names this machine and port (against rebinding of names), no Origin of another site, and a token
// that only the printed address has; bounds on the length of requests, their number at a time and their rate; clients
// that dawdle are cut off, the longest waiting first when room is short.
//
//   /  /viewer.js  /viewer.css  /decode.js  /licenses.txt     the page, part of the program
//   /api/run                                                  what is there: scene, frames, log (JSON)
//   /api/points?frame=N[&attribute=A][&limit=N]               particles (view/wire.h)
//   /api/surface?frame=N                                      the surface's mesh (view/wire.h)
//   /api/solids                                               solids, emitters, sinks (view/wire.h)
//   /api/vertices?frame=N                                     where those of solids that change their form are
//   /api/log?version=V&offset=N                               a line of JSON about the part, then lines of log.jsonl
//   /api/scene                                                scene.yaml
//
// Errors are {"error": "..."} with the status of HTTP that fits.
#pragma once
#include "base/status.h"

typedef struct rh_server rh_server;

// Serves the run folder `run` (copied) until stopped, from threads of its own. Port 0 takes a free one. RH_USER when
// the folder holds no readable scene, or when the program was built without its web server; RH_IO when the port is
// taken. `material`: the one to show of a run with several; NULL = all. `sandbox`: the folder that meshes of the scene
// must lie in; NULL = anywhere.
rh_code rh_server_start(const char *run, const char *material, int port, const char *sandbox, rh_server **out,
                        rh_status *status);
int rh_server_port(const rh_server *server);
enum { RH_SERVER_TOKEN = 33 };                         // letters, with the zero at the end
const char *rh_server_token(const rh_server *server);  // what /?token=... must be
// Cuts off clients that dawdle. Call it about once a second.
void rh_server_cut_off(rh_server *server);
void rh_server_stop(rh_server *server);  // waits for the answers being made; NULL is fine
