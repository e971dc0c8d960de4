/** The control plane behind a switch: it passes everything on, answers with one status, never, or is away. */
type Mode = 'passes' | 'hangs' | 'away' | number

export function openSwitch(target: string) {
  let mode: Mode = 'passes'
  const asked: string[] = []
  let lost: { path: string; then: Mode } | null = null
  const serve = (port: number) =>
    Bun.serve({
      port,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        asked.push(`${request.method} ${pathname}`)
        if (mode === 'hangs') return new Promise<Response>(() => {})
        if (typeof mode === 'number') return refusal(mode)
        const answer = await fetch(`${target}${pathname}${search}`, {
          method: request.method,
          headers: request.headers,
          ...(request.method === 'GET' ? {} : { body: await request.arrayBuffer() }),
        })
        if (pathname !== lost?.path) return answer
        mode = lost.then
        lost = null
        return refusal(502)
      },
    })
  let server = serve(0)
  const { port = 0 } = server
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Method and path of each request since the start. */
    asked,
    to: async (next: Mode) => {
      if (next === 'away') await server.stop(true)
      else if (mode === 'away') server = serve(port)
      mode = next
    },
    /** The next answer for a path does not arrive, though the server has done it. */
    lose: (path: string, then: Mode = 'passes') => {
      lost = { path, then }
    },
    close: () => server.stop(true),
  }
}

function refusal(status: number): Response {
  const error_code = status === 401 ? 'invalid_token' : 'unavailable'
  const body = { status: 'failure', error_code, message: `Answered ${status}.` }
  return Response.json(body, { status })
}
