/* The answers this side gives itself, whole and static, and the names of the status codes (RFC 9110, 15). */
#include "http/http.h"

#define BODY(status, reason, text) \
    "<html><body><h1>" #status " " reason "</h1>\n<p>" text "</p></body></html>\n"
#define HEAD(status, reason, length)      \
    "HTTP/1.1 " #status " " reason "\r\n" \
    "Content-Length: " #length "\r\n"     \
    "Content-Type: text/html\r\n"         \
    "Cache-Control: no-cache\r\n"         \
    "Connection: close\r\n\r\n"

/* The length is part of the text, so it must be written out; an array of negative size if it is wrong. */
#define CHECKED(status, reason, length, text)   \
    (sizeof(HEAD(status, reason, length)) - 1 + \
     0 * sizeof(char[sizeof(BODY(status, reason, text)) - 1 == (length) ? 1 : -1]))
#define ANSWER(status, reason, length, text)                                     \
    {                                                                            \
        status, reason, HEAD(status, reason, length) BODY(status, reason, text), \
            CHECKED(status, reason, length, text), (length)                      \
    }

static const struct answer {
    unsigned status;
    const char *reason, *whole;
    size_t head, body;
} answers[] = {
    ANSWER(400, "Bad Request", 131,
           "The request could not be understood: its syntax or framing is not valid."),
    ANSWER(403, "Forbidden", 96, "Access to this resource is not allowed."),
    ANSWER(404, "Not Found", 90, "There is nothing at this address."),
    ANSWER(408, "Request Timeout", 100, "The request was not complete in time."),
    ANSWER(413, "Content Too Large", 113, "The body of the request is larger than accepted."),
    ANSWER(414, "URI Too Long", 106, "The address asked for is longer than accepted."),
    ANSWER(417, "Expectation Failed", 111, "The expectation of the request cannot be met."),
    ANSWER(431, "Request Header Fields Too Large", 150,
           "The header of the request is larger, or has more fields, than accepted."),
    ANSWER(500, "Internal Server Error", 125, "Something went wrong here while the request was handled."),
    ANSWER(501, "Not Implemented", 113, "The request needs something that is not supported."),
    ANSWER(502, "Bad Gateway", 98, "The server behind gave no valid answer."),
    ANSWER(503, "Service Unavailable", 116, "No server is available to handle the request now."),
    ANSWER(504, "Gateway Timeout", 104, "The server behind did not answer in time."),
    ANSWER(505, "HTTP Version Not Supported", 123, "The HTTP version of the request is not supported."),
};

struct http_str http_error_answer(unsigned status, bool head_only)
{
    const struct answer *found = NULL;

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (answers[i].status == status || (answers[i].status == 500 && !found))
            found = &answers[i];
    return (struct http_str){found->whole, found->head + (head_only ? 0 : found->body)};
}

const char *http_reason(unsigned status)
{
    static const struct {
        unsigned status;
        const char *reason;
    } others[] = {
        {100, "Continue"},
        {101, "Switching Protocols"},
        {103, "Early Hints"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {203, "Non-Authoritative Information"},
        {204, "No Content"},
        {205, "Reset Content"},
        {206, "Partial Content"},
        {300, "Multiple Choices"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {305, "Use Proxy"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {401, "Unauthorized"},
        {402, "Payment Required"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {407, "Proxy Authentication Required"},
        {409, "Conflict"},
        {410, "Gone"},
        {411, "Length Required"},
        {412, "Precondition Failed"},
        {415, "Unsupported Media Type"},
        {416, "Range Not Satisfiable"},
        {421, "Misdirected Request"},
        {422, "Unprocessable Content"},
        {425, "Too Early"},
        {426, "Upgrade Required"},
        {428, "Precondition Required"},
        {429, "Too Many Requests"},
        {511, "Network Authentication Required"},
    };

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        if (answers[i].status == status)
            return answers[i].reason;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].status == status)
            return others[i].reason;
    return "Unknown";
}
