/** A switch in front of the control plane: it passes requests on, answers with one status, hangs or is down. */
type Mode = 'passes' | 'hangs' | 'down' | number

export function openSwitch(target: string) {
  let mode: Mode = 'passes'
  const asked: string[] = []
  const last = new Map<string, string>()
  const replayed = new Map<string, string>()
  let lost: { path: string; then: Mode } | null = null
  const awaited = new Set<string>()
  let allArrived = Promise.withResolvers<void>()
  const waitForOthers = async (asked: string) => {
    const ending = [...awaited].find((each) => asked.endsWith(each))
    if (ending === undefined) return
    awaited.delete(ending)
    if (awaited.size === 0) allArrived.resolve()
    await allArrived.promise
  }
  /** The answer without the control plane, or null to pass the request on. */
  const instead = (pathname: string) => {
    if (mode === 'hangs') return new Promise<Response>(() => {})
    if (typeof mode === 'number') return refusal(mode)
    const again = replayed.get(pathname)
    return again === undefined ? null : new Response(again)
  }
  const pass = async (request: Request, path: string) => {
    const answer = await fetch(`${target}${path}`, {
      method: request.method,
      headers: request.headers,
      ...(request.method === 'GET' ? {} : { body: await request.arrayBuffer() }),
    })
    const [pathname = ''] = path.split('?')
    if (answer.ok) last.set(pathname, await answer.clone().text())
    if (pathname !== lost?.path) return answer
    mode = lost.then
    lost = null
    return refusal(502)
  }
  const serve = (port: number) =>
    Bun.serve({
      port,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        asked.push(`${request.method} ${pathname}`)
        await waitForOthers(`${request.method} ${pathname}`)
        return instead(pathname) ?? pass(request, `${pathname}${search}`)
      },
    })
  let server = serve(0)
  const { port = 0 } = server
  return {
    origin: `http://127.0.0.1:${port}`,
    /** Method and path of each request since the start. */
    asked,
    to: async (next: Mode) => {
      if (next === 'down') await server.stop(true)
      else if (mode === 'down') server = serve(port)
      mode = next
    },
    /** Returns a function that replays the current answer of the path while it was called with `true`. */
    keep: (path: string) => {
      const kept = last.get(path) ?? ''
      return (isOn: boolean) => {
        if (isOn) replayed.set(path, kept)
        else replayed.delete(path)
      }
    },
    /** Holds requests with these endings of method and path until all of them have arrived. */
    together: (endings: readonly string[]) => {
      allArrived = Promise.withResolvers()
      for (const ending of endings) awaited.add(ending)
    },
    /** Loses the next answer for a path, although the server has processed the request. */
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
