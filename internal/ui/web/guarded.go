package web

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"os"
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
//   - The path begins with the secret of this run, which proves that the browser was let in. A cookie would
//     go to every server on 127.0.0.1, also one of another account, because cookies know no ports.
//   - Forms carry a token besides, and CrossOriginProtection checks their origin.
func (s *Server) guarded(inner http.Handler) http.Handler {
	checked := http.StripPrefix("/"+s.secret, http.NewCrossOriginProtection().Handler(inner))
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
		if r.URL.Query().Has("t") { // from a file, the browser calls it cross-site
			s.letIn(w, r)
			return
		}
		if fromElsewhere(r) {
			http.Error(w, "another page sent this request", http.StatusForbidden)
			return
		}
		if secret, _, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); !below || !same(secret, s.secret) {
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

// letIn exchanges the ticket in an address for the secret, and redirects to the address with that.
// A ticket works once, so the one in the browser's history is worthless.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != "/" || !s.tickets.take(r.URL.Query().Get("t"), s.Now()) {
		http.Error(w, "This address was used already, or is more than a minute old. Press Enter in the terminal for another one.", http.StatusForbidden)
		return
	}
	if fromElsewhere(r) {
		// After a redirect this would still count as a request of the file.
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, onward("/"+s.secret+"/")) // the browser may have gone
		return
	}
	http.Redirect(w, r, "/"+s.secret+"/", http.StatusSeeOther)
}

// fromElsewhere reports whether the browser says that another page sent the request.
func fromElsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// onward is a page that only leads to an address, without a script.
func onward(address string) string {
	to := template.HTMLEscapeString(address)
	return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>git checkpoint</title>` +
		`<meta http-equiv="refresh" content="0; url=` + to + `"><p><a href="` + to + `">Open the page</a></p>` + "\n"
}

// Door is the file that leads a browser to a new address of the server. Everybody on this machine
// can read the arguments of a process, such as an address that a browser is started with. Only its
// owner can read this file. Remove it when the address has expired, after DoorLife. If the process
// is killed, the sweep of the program's own directory removes the file, because its name begins
// with tmp-.
func (s *Server) Door(dir string) (file string, err error) {
	f, err := os.CreateTemp(dir, "tmp-web-*.html") // mode 0600
	if err != nil {
		return "", fmt.Errorf("write the file for the browser: %w", err)
	}
	_, err = f.WriteString(onward(s.Address()))
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name()) //nolint:errcheck // disposable
		return "", fmt.Errorf("write the file for the browser: %w", err)
	}
	return f.Name(), nil
}

// DoorLife is how long the file of Door is of use.
const DoorLife = ticketLife

// same compares secrets in constant time, so that the time tells nothing about them.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
