// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// In place of the server where the program is built without libmicrohttpd (RHEO_VIEWER off).
#include <stddef.h>
#include "view/server.h"

rh_code rh_server_start(const char *run, const char *material, int port, const char *sandbox, rh_server **out,
                        rh_status *status)
{
    (void)run, (void)material, (void)port, (void)sandbox;
    *out = NULL;
    return rh_fail(status, RH_USER,
                   "this program was built without its viewer: found no libmicrohttpd, expected the package "
                   "libmicrohttpd-dev when it was built, and RHEO_VIEWER on");
}

int rh_server_port(const rh_server *server)
{
    (void)server;
    return 0;
}

const char *rh_server_token(const rh_server *server)
{
    (void)server;
    return "";
}

void rh_server_cut_off(rh_server *server) { (void)server; }
void rh_server_stop(rh_server *server) { (void)server; }
