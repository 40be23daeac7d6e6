package web

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// policy forbids a page everything but its own script, style and images, whatever a name or a diff
// in it contains.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded lets only the browser in that opened the printed address. Other pages in that browser cannot
// reach it: the Host is compared against rebinding, requests from other origins are refused, the cookie
// is strict, and a form carries a token of its own.
func (s *Server) guarded(inner http.Handler) http.Handler {
	checked := http.NewCrossOriginProtection().Handler(inner)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.idle.enter()()
		header := w.Header()
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
			http.Error(w, "another page asked for this", http.StatusForbidden)
			return
		}
		if r.URL.Query().Has("t") {
			s.letIn(w, r)
			return
		}
		if cookie, err := r.Cookie(s.cookieName()); err != nil || !same(cookie.Value, s.secret) {
			http.Error(w, "Open the address that git checkpoint web printed. It is good once, for a minute; press Enter in the terminal for another.", http.StatusForbidden)
			return
		}
		if r.Method == http.MethodPost {
			r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
			if !same(r.PostFormValue("form"), s.form) {
				http.Error(w, "the form is not from this server", http.StatusForbidden)
				return
			}
		}
		checked.ServeHTTP(w, r)
	})
}

// letIn exchanges a ticket for the cookie, so that the address in the history of the browser is worth
// nothing.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != "/" || !s.tickets.take(r.URL.Query().Get("t"), s.Now()) {
		http.Error(w, "This address was used, or is older than a minute. Press Enter in the terminal for another.", http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: s.secret, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// cookieName has the port, because cookies do not tell ports apart.
func (s *Server) cookieName() string {
	return "checkpoint-" + s.host[strings.LastIndexByte(s.host, ':')+1:]
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
