// The Go standard library's reverse proxy to one upstream: plain HTTP in front, TLS 1.3 behind. Most people who write
// their own proxy use it. It checks nothing and records nothing.
//
//	go_proxy https://api.bench.example:8443 ca.pem
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

func main() {
	upstream, err := url.Parse(os.Args[1])
	check(err)
	authority, err := os.ReadFile(os.Args[2])
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) { request.SetURL(upstream) },
		// As many idle connections as the bench has open, because the default of two would cause repeated handshakes.
		Transport: &http.Transport{
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 512,
			DisableCompression:  true,
			TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13},
		},
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("listening on %d\n", listener.Addr().(*net.TCPAddr).Port)
	check(http.Serve(listener, proxy))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
