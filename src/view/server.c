// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The server on libmicrohttpd: a thread a connection, so that one that reads a large frame holds up nobody. What is
// asked for is decided here; what is on disk is read by server_run.c, what was read before is in server_cache.c, who
// may ask is decided by server_guard.c.
//
// Order of a request: headers are there -> rate, method, Host, length, origin, token -> route -> answer from the cache
// or made now.
#include "view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/memory.h"
#include "view/server_cache.h"
#include "view/server_guard.h"
#include "view/server_page.h"
#include "view/server_run.h"

enum {
    MOST_CONNECTIONS = 128,
    MOST_AT_WORK = 4,  // frames read at the same time: each needs the whole frame in memory
    LONGEST_URL = 1024,
    REQUEST_BYTES = 16 << 10,  // of request and headers; libmicrohttpd answers 414 or 431 beyond
    SILENCE = 30,              // s
    KEPT_BYTES = 256 << 20,    // of answers
    LARGEST_LIMIT = 16000000,  // particles
};

typedef enum route { POINTS, SURFACE, SOLIDS, VERTICES, SCENE, LOG, PROBES, STATE } route;

struct rh_server {
    struct MHD_Daemon *daemon;
    rh_served_run served;
    rh_response_cache answers;
    rh_guard guard;
    sem_t work;
    int port;
    char token[RH_SERVER_TOKEN];
};

typedef struct request {
    route route;
    int64_t frame, limit, offset;
    uint64_t version;
    char attribute[RH_WIRE_NAME];
} request;

static char url_too_long, url_encoded, url_fine;  // their addresses mark a request

// --- answers ---------------------------------------------------------------------------------------------------------

// Nothing from elsewhere, nothing inline, nobody may frame the page or use its answers.
static void add_headers(struct MHD_Response *response, const char *type)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
         "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"X-Frame-Options", "DENY"},
        {"Cache-Control", "no-store"},
        {"Vary", "Accept-Encoding"},
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    MHD_add_response_header(response, "Content-Type", type);
}

static enum MHD_Result send_and_forget(struct MHD_Connection *connection, unsigned status,
                                       struct MHD_Response *response)
{
    if (!response) return MHD_NO;
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *message)
{
    rh_message body = {0};
    rh_code code = rh_message_append(&body, "{\"error\":", 9, NULL);
    if (code == RH_OK) code = rh_message_text(&body, message, NULL);
    if (code == RH_OK) code = rh_message_append(&body, "}\n", 2, NULL);
    struct MHD_Response *response = NULL;
    if (code == RH_OK) response = MHD_create_response_from_buffer(body.count, body.bytes, MHD_RESPMEM_MUST_COPY);
    rh_message_free(&body);
    if (!response) return MHD_NO;
    add_headers(response, "application/json");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(response, "Allow", "GET, HEAD");
    if (status == MHD_HTTP_TOO_MANY_REQUESTS) MHD_add_response_header(response, "Retry-After", "1");
    return send_and_forget(connection, status, response);
}

static enum MHD_Result send_page(const rh_server *server, struct MHD_Connection *connection, const rh_page_file *file)
{
    char cookie[128];
    struct MHD_Response *response = MHD_create_response_from_buffer(file->count, (void *)file->bytes,
                                                                    MHD_RESPMEM_PERSISTENT);
    if (response) add_headers(response, file->type);
    snprintf(cookie, sizeof cookie, "rheo_%d=%s; HttpOnly; SameSite=Strict; Path=/", server->port, server->token);
    if (response) MHD_add_response_header(response, "Set-Cookie", cookie);
    return send_and_forget(connection, MHD_HTTP_OK, response);
}

static void give_back(void *answer) { rh_response_release(answer); }

static enum MHD_Result send_answer(struct MHD_Connection *connection, rh_response *answer, const char *type,
                                   bool zipped)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        answer->message.count, answer->message.bytes, give_back, answer);
    if (!response) {
        rh_response_release(answer);
        return MHD_NO;
    }
    add_headers(response, type);
    if (zipped) MHD_add_response_header(response, "Content-Encoding", "gzip");
    return send_and_forget(connection, MHD_HTTP_OK, response);
}

// --- what is asked for -----------------------------------------------------------------------------------------------

// A whole number in decimal digits; *out stays as it is when it is not given.
static bool read_number(struct MHD_Connection *connection, const char *name, int64_t low, int64_t high, int64_t *out)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    if (!text) return true;
    size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 18 || text[digits]) return false;
    *out = strtoll(text, NULL, 10);
    return *out >= low && *out <= high;
}

static bool read_attribute(struct MHD_Connection *connection, request *r)
{
    const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "attribute");
    if (!text) return true;
    if (strlen(text) >= sizeof r->attribute) return false;
    strcpy(r->attribute, text);
    return true;
}

static const char *read_request(struct MHD_Connection *connection, request *r)
{
    int64_t version = 0;
    r->frame = -1;
    r->limit = RH_WIRE_POINTS;
    if (!read_number(connection, "frame", 0, INT64_MAX, &r->frame)) return "frame: expected a whole number";
    if (!read_number(connection, "limit", 1, LARGEST_LIMIT, &r->limit))
        return "limit: expected a whole number from 1 to 16000000";
    if (!read_number(connection, "offset", 0, INT64_MAX, &r->offset)) return "offset: expected a whole number";
    if (!read_number(connection, "version", 0, INT64_MAX, &version)) return "version: expected a whole number";
    if (!read_attribute(connection, r)) return "attribute: expected a name of less than 34 bytes";
    if ((r->route == POINTS || r->route == SURFACE || r->route == VERTICES) && r->frame < 0)
        return "frame: found nothing, expected a whole number";
    r->version = (uint64_t)version;
    return NULL;
}

static bool find_route(const char *url, route *out)
{
    static const char *const routes[] = {"/api/points", "/api/surface", "/api/solids", "/api/vertices",
                                         "/api/scene",  "/api/log",     "/api/probes", "/api/run"};
    for (int i = 0; i <= STATE; i++)
        if (!strcmp(routes[i], url)) {
            *out = (route)i;
            return true;
        }
    return false;
}

static const char *type_of(route asked)
{
    switch (asked) {
    case STATE: return "application/json";
    case SCENE:
    case LOG:
    case PROBES: return "text/plain; charset=utf-8";
    default: return "application/octet-stream";
    }
}

// --- making answers --------------------------------------------------------------------------------------------------

static rh_code make(rh_server *server, const request *r, rh_message *out, rh_status *status)
{
    rh_served_run *served = &server->served;
    rh_wire_view view = {r->attribute[0] ? r->attribute : NULL, r->limit};
    switch (r->route) {
    case POINTS: return rh_served_points(served, r->frame, &view, out, status);
    case SURFACE: return rh_served_surface(served, r->frame, out, status);
    case SOLIDS: return rh_served_solids(served, out, status);
    case VERTICES: return rh_served_vertices(served, r->frame, out, status);
    case SCENE: return rh_served_scene(served, out, status);
    case LOG: return rh_served_log(served, r->version, r->offset, out, status);
    case PROBES: return rh_served_probes(served, r->version, r->offset, out, status);
    case STATE: return rh_served_state(served, out, status);
    }
    return RH_OK;
}

// Only what is costly is kept, under the version its file has now.
static bool make_key(rh_server *server, const request *r, bool zipped, rh_response_key *key)
{
    memset(key, 0, sizeof *key);
    key->kind = (int32_t)r->route;
    key->zipped = zipped;
    if (r->route == SOLIDS || r->route == VERTICES) key->version = rh_served_scene_version(&server->served);
    if (r->route == POINTS) key->version = rh_served_points_version(&server->served, r->frame);
    if (r->route == SURFACE) key->version = rh_served_surface_version(&server->served, r->frame);
    if (r->route != SOLIDS) key->frame = r->frame;
    if (r->route == POINTS) {
        key->limit = r->limit;
        strcpy(key->attribute, r->attribute);
    }
    return r->route <= VERTICES;
}

static rh_response *make_answer(rh_server *server, const request *r, const rh_response_key *key, bool zipped,
                                rh_status *status)
{
    rh_message message = {0};
    bool heavy = key != NULL;
    while (heavy && sem_wait(&server->work) && errno == EINTR) {
    }
    rh_code code = make(server, r, &message, status);
    if (code == RH_OK && zipped) code = rh_wire_gzip(&message, status);
    if (heavy) sem_post(&server->work);
    if (code != RH_OK) {
        rh_message_free(&message);
        return NULL;
    }
    return rh_response_cache_add(&server->answers, key, &message, status);
}

static bool accepts_gzip(struct MHD_Connection *connection)
{
    const char *accepted = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept-Encoding");
    const char *gzip = accepted ? strstr(accepted, "gzip") : NULL;
    return gzip && strncmp(gzip, "gzip;q=0", 8);
}

static enum MHD_Result answer(rh_server *server, struct MHD_Connection *connection, const char *url)
{
    request r = {0};
    rh_page_file file;
    if (rh_page_find(url, &file)) return send_page(server, connection, &file);
    if (!find_route(url, &r.route))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing of this name; / is the page");
    const char *wrong = read_request(connection, &r);
    if (wrong) return refuse(connection, MHD_HTTP_BAD_REQUEST, wrong);
    rh_status status = {0};
    rh_response_key key;
    bool zipped = accepts_gzip(connection), kept = make_key(server, &r, zipped, &key);
    if (kept && !key.version) return refuse(connection, MHD_HTTP_NOT_FOUND, "this frame is not there (any more)");
    rh_response *found = kept ? rh_response_cache_find(&server->answers, &key) : NULL;
    if (!found) found = make_answer(server, &r, kept ? &key : NULL, zipped, &status);
    if (found) return send_answer(connection, found, type_of(r.route), zipped);
    return refuse(connection, status.code == RH_MEMORY ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_INTERNAL_SERVER_ERROR,
                  status.message);
}

// --- who asks --------------------------------------------------------------------------------------------------------

static bool names_us(const char *host, int port)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (int i = 0; host && i < 3; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "%s:%d", names[i], port);
        if (!strcasecmp(host, expected)) return true;
    }
    return false;
}

// A page of another site that lets the visitor's browser ask us is told off, though it could not read the answer
// anyway.
static bool comes_from_elsewhere(const rh_server *server, struct MHD_Connection *connection)
{
    const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    if (origin && (strncmp(origin, "http://", 7) != 0 || !names_us(origin + 7, server->port))) return true;
    const char *site = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    const char *mode = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Mode");
    if (!site || !strcmp(site, "same-origin") || !strcmp(site, "none")) return false;
    return !mode || strcmp(mode, "navigate");  // a link to the page is fine
}

// In the same time wherever they differ.
static bool is_token(const rh_server *server, const char *text)
{
    unsigned char differs = 0;
    if (!text || strlen(text) != RH_SERVER_TOKEN - 1) return false;
    for (int i = 0; i < RH_SERVER_TOKEN - 1; i++) differs |= (unsigned char)(text[i] ^ server->token[i]);
    return differs == 0;
}

// Any user of the machine can open the port; only who was told the address has the token. It comes in the address first
// and then in a cookie. Cookies are not told apart by port, hence the port in its name.
static bool has_token(const rh_server *server, struct MHD_Connection *connection)
{
    char name[32];
    snprintf(name, sizeof name, "rheo_%d", server->port);
    return is_token(server, MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token")) ||
           is_token(server, MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, name));
}

static enum MHD_Result decide(rh_server *server, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *mark)
{
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    if (!rh_guard_allows(&server->guard, rh_seconds()))
        return refuse(connection, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests; wait a second");
    if (!names_us(host, server->port))
        return refuse(connection, MHD_HTTP_MISDIRECTED_REQUEST,
                      "the Host header does not name this server: open it as 127.0.0.1 or localhost with its port");
    if (strcmp(method, "GET") && strcmp(method, "HEAD"))
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "expected GET or HEAD");
    if (mark == &url_too_long) return refuse(connection, MHD_HTTP_URI_TOO_LONG, "the address is too long");
    if (comes_from_elsewhere(server, connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "asked from a page of another site");
    if (!has_token(server, connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN,
                      "the token is missing: open the address that rheo view has printed");
    return answer(server, connection, mark == &url_encoded ? "" : url);
}

static rh_guard_slot *slot_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

// Called when the headers are there, and again when the request is there whole. What is not a plain GET is answered the
// first time, which makes libmicrohttpd close the connection instead of reading a body; a plain one the second time,
// which keeps it open for the next.
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                                  const char *version, const char *upload, size_t *upload_bytes, void **context)
{
    (void)version, (void)upload;
    rh_server *server = user;
    rh_guard_slot *slot = slot_of(connection);
    bool plain = !strcmp(method, "GET") || !strcmp(method, "HEAD");
    if (plain && !*context) {
        *context = &url_fine;
        return MHD_YES;
    }
    if (*upload_bytes > 0) return MHD_NO;
    if (slot) rh_guard_mark(&server->guard, slot, true, rh_seconds());
    return decide(server, connection, url, method, *context);
}

static void *on_url(void *user, const char *url, struct MHD_Connection *connection)
{
    (void)user, (void)connection;
    if (strlen(url) > LONGEST_URL) return &url_too_long;
    // No route has a letter that needs a percent sign; decoded, %00 would cut the name short.
    return strcspn(url, "%") < strcspn(url, "?") ? &url_encoded : NULL;
}

static void on_completed(void *user, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode how)
{
    (void)context, (void)how;
    rh_server *server = user;
    rh_guard_slot *slot = slot_of(connection);
    if (slot) rh_guard_mark(&server->guard, slot, false, rh_seconds());
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    rh_server *server = user;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info ? rh_guard_enter(&server->guard, info->connect_fd, rh_seconds()) : NULL;
    } else if (*context) {
        rh_guard_leave(&server->guard, *context);
        *context = NULL;
    }
}

// --- start and stop --------------------------------------------------------------------------------------------------

// The port is known before the first request can come: each is compared with it.
static rh_code open_port(rh_server *server, int port, int *out, rh_status *status)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int yes = 1, listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Lets a viewer take its port again right after it ended; a port somebody listens on stays taken all the same.
    bool good = listening >= 0 && setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                bind(listening, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(listening, MOST_CONNECTIONS) == 0 &&
                getsockname(listening, (struct sockaddr *)&address, &length) == 0;
    int reason = errno;
    *out = listening;
    server->port = ntohs(address.sin_port);
    if (good) return RH_OK;
    if (listening >= 0) close(listening);
    if (reason == EADDRINUSE)
        return rh_fail(status, RH_IO, "port %d is in use by another program; without --port a free one is taken", port);
    return rh_fail(status, RH_IO, "cannot listen on port %d of 127.0.0.1: %s", port, strerror(reason));
}

static rh_code listen_on(rh_server *server, int port, rh_status *status)
{
    int listening;
    RH_TRY(open_port(server, port, &listening, status));
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL, NULL, on_request,
        server, MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENCE, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, on_url, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
    if (server->daemon) return RH_OK;
    close(listening);
    return rh_fail(status, RH_IO, "the web server does not start: %s", strerror(errno));
}

// Half the processors, so that a run that goes on at the same time keeps its share.
static unsigned places_at_work(void)
{
    long half = sysconf(_SC_NPROCESSORS_ONLN) / 2;
    return half < 1 ? 1 : half > MOST_AT_WORK ? MOST_AT_WORK : (unsigned)half;
}

static rh_code make_token(rh_server *server, rh_status *status)
{
    unsigned char bytes[(RH_SERVER_TOKEN - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return rh_fail(status, RH_IO, "the system gives no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return RH_OK;
}

rh_code rh_server_start(const char *run, const char *material, int port, const char *sandbox, rh_server **out,
                        rh_status *status)
{
    *out = NULL;
    rh_server *server = rh_alloc_zero(sizeof *server, "view.server", status);
    if (!server) return RH_MEMORY;
    rh_response_cache_init(&server->answers, KEPT_BYTES);
    rh_guard_init(&server->guard);
    sem_init(&server->work, 0, places_at_work());
    rh_code code = make_token(server, status);
    if (code == RH_OK) code = rh_served_open(&server->served, run, material, sandbox, status);
    if (code == RH_OK) code = listen_on(server, port, status);
    if (code == RH_OK) *out = server;
    else rh_server_stop(server);
    return code;
}

int rh_server_port(const rh_server *server) { return server->port; }
const char *rh_server_token(const rh_server *server) { return server->token; }

void rh_server_cut_off(rh_server *server) { rh_guard_cut_off(&server->guard, rh_seconds()); }

void rh_server_stop(rh_server *server)
{
    if (!server) return;
    if (server->daemon) MHD_stop_daemon(server->daemon);
    rh_served_close(&server->served);
    rh_response_cache_free(&server->answers);
    rh_guard_free(&server->guard);
    sem_destroy(&server->work);
    rh_free(server);
}
