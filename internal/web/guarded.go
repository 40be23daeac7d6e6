package web

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// policy is the Content-Security-Policy of every page: it may load only scripts, styles and images
// of this server. If a file name or a diff ever got past the escaping, its script still would not
// run.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded admits only the browser that has opened a printed address. The server can read and change
// the repository, and any website in the same browser can send requests to 127.0.0.1, so there are
// several checks:
//
//   - The Host must be ours. Otherwise a hostile site could point its own name at 127.0.0.1 (DNS
//     rebinding) and read the answers.
//   - Requests that the browser marks as coming from another site are refused.
//   - A cookie that other sites cannot send (SameSite=Strict) proves that the browser was let in.
//   - Forms carry a token besides the cookie, and CrossOriginProtection checks their origin.
func (s *Server) guarded(inner http.Handler) http.Handler {
	checked := http.NewCrossOriginProtection().Handler(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.idle.enter()()
		header := w.Header()
		// Headers that keep other sites from framing, caching, sniffing or embedding the pages.
		for name, value := range map[string]string{
			"Content-Security-Policy":      policy,
			"Referrer-Policy":              "no-referrer",
			"X-Frame-Options":              "DENY",
			"X-Content-Type-Options":       "nosniff",
			"Cache-Control":                "no-store",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			header.Set(name, value)
		}
		if r.Host != s.host {
			http.Error(w, "this server answers to "+s.host+" only", http.StatusMisdirectedRequest)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
			http.Error(w, "another page sent this request", http.StatusForbidden)
			return
		}
		if r.URL.Query().Has("t") {
			s.letIn(w, r)
			return
		}
		if cookie, err := r.Cookie(s.cookieName()); err != nil || !same(cookie.Value, s.secret) {
			http.Error(w, "Open the address that git checkpoint web printed. It works once, within a minute; press Enter in the terminal for another one.", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
			if !same(r.PostFormValue("form"), s.form) {
				http.Error(w, "the form was not made by this server", http.StatusForbidden)
				return
			}
		}
		checked.ServeHTTP(w, r)
	})
}

// letIn exchanges the ticket in an address for the cookie and redirects to the address without it.
// A ticket works once, so the one in the browser's history is worthless.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != "/" || !s.tickets.take(r.URL.Query().Get("t"), s.Now()) {
		http.Error(w, "This address was used already, or is more than a minute old. Press Enter in the terminal for another one.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: s.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// cookieName contains the port, because cookies do not distinguish ports: two servers on this
// machine would overwrite each other's cookie.
func (s *Server) cookieName() string {
	return "checkpoint-" + s.host[strings.LastIndexByte(s.host, ':')+1:]
}

// same compares secrets in constant time, so that the time tells nothing about them.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
