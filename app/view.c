// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// rheo view: a page with the frames of a run, served to a browser on the same machine until Control-C.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include "app.h"
#include "view/server.h"

// Signals are waited for, not handled: blocked here before the server's threads start, which inherit that.
static void block_signals(sigset_t *stop)
{
    sigemptyset(stop);
    sigaddset(stop, SIGINT);
    sigaddset(stop, SIGTERM);
    sigaddset(stop, SIGHUP);
    pthread_sigmask(SIG_BLOCK, stop, NULL);
}

static void serve_until_stopped(rh_server *server, const sigset_t *stop)
{
    const struct timespec second = {.tv_sec = 1};
    while (sigtimedwait(stop, NULL, &second) < 0) rh_server_cut_off(server);
}

static int view(const app_arguments *arguments)
{
    rh_status status = {0};
    rh_server *server = NULL;
    sigset_t stop;
    if (arguments->port > 65535)
        rh_fail(&status, RH_USER, "view: --port: found %lld, expected 1 to 65535", (long long)arguments->port);
    if (status.code != RH_OK) return app_report(&status);
    block_signals(&stop);
    if (rh_server_start(arguments->operand, arguments->material, (int)arguments->port, arguments->sandbox, &server,
                        &status) != RH_OK)
        return app_report(&status);
    printf("http://127.0.0.1:%d/?token=%s\n", rh_server_port(server), rh_server_token(server));
    int written = app_finish_output();
    if (!arguments->quiet && written == APP_DONE)
        fprintf(stderr, "the viewer of %s is at the address above; Control-C ends it\n", arguments->operand);
    if (written == APP_DONE) serve_until_stopped(server, &stop);
    pthread_sigmask(SIG_UNBLOCK, &stop,
                    NULL);  // should an answer that is being made never end, a second Control-C does
    rh_server_stop(server);
    return written;
}

#define AT(field) offsetof(app_arguments, field)
static const app_option options[] = {
    {"material", APP_TEXT, AT(material), "NAME", "show this material of a run with several alone"},
    {"port", APP_COUNT, AT(port), "N", "port on 127.0.0.1; without it a free one is taken"},
    APP_SANDBOX,
    {"quiet", APP_FLAG, AT(quiet), NULL, "print the address and nothing else"},
};

const app_command app_view = {
    "view",
    "RUN",
    true,
    false,
    "look at a run in a browser, also while it goes on",
    "Serves a page with the frames of a run on this machine and prints its address: play, scrub,\n"
    "particles coloured by any attribute, surface, solids, plots of the log, the complete scene.\n"
    "New frames appear by themselves. Only who has the printed address, with its token, can see it.\n"
    "Control-C ends it.",
    options,
    APP_OPTION_COUNT(options),
    view};
