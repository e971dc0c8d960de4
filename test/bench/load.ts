/** The load: the given number of connections, each with one request at a time, from its own process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { partCommand } from './processes.ts'

export type Shot = {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  /** Values of the header Authorization, one request after the other. */
  authorizations?: readonly string[]
  body: string | null
}

/** `failures`: answers of status 400 and above, and broken connections. */
export type LoadResult = {
  requests: number
  failures: number
  seconds: number
  p50Ms: number
  p99Ms: number
}

export type LoadPlan = { shot: Shot; concurrency: number; seconds: number }

/** wrk if it is installed, otherwise the small client of load_client.ts. */
export async function applyLoad(plan: LoadPlan): Promise<LoadResult> {
  const wrk = Bun.which('wrk')
  return wrk ? await byWrk(wrk, plan) : await byClient(plan)
}

/** @throws Error for a rejected request, because failures must not be measured */
export async function bodyOf({ url, method, headers, body }: Shot): Promise<string> {
  const answer = await fetch(url, { method, headers, body })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}: ${text}`)
  return text
}

async function byWrk(wrk: string, { shot, concurrency, seconds }: LoadPlan): Promise<LoadResult> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-bench-wrk-'))
  const script = join(directory, 'shot.lua')
  writeFileSync(script, scriptOf(shot))
  const options = ['-t1', `-c${concurrency}`, `-d${seconds}s`, '--timeout', '30s', '-s', script]
  const output = await run([wrk, ...options, shot.url])
  rmSync(directory, { recursive: true, force: true })
  return resultIn(output)
}

/** Lua strings accept the escapes of JSON except `\u` and `\/`, which do not occur here. */
function scriptOf({ method, headers, authorizations = [], body }: Shot): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
  )
  return `wrk.method = "${method}"
${lines.join('\n')}
${body === null ? '' : `wrk.body = ${JSON.stringify(body)}`}
local authorizations = {${authorizations.map((value) => JSON.stringify(value)).join(',')}}
local requests = {}
local count = 0
function init()
  for index, value in ipairs(authorizations) do
    wrk.headers["authorization"] = value
    requests[index] = wrk.format()
  end
  if #requests == 0 then requests[1] = wrk.format() end
end
function request()
  count = count + 1
  return requests[count % #requests + 1]
end
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\\nresult {"requests":%d,"failures":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f}\\n',
    summary.requests, failures, summary.duration / 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
`
}

async function byClient(plan: LoadPlan): Promise<LoadResult> {
  return resultIn(await run(partCommand('load', plan)))
}

async function run(cmd: string[]): Promise<string> {
  const child = Bun.spawn(cmd, { stdout: 'pipe', stderr: 'ignore' })
  return await new Response(child.stdout).text()
}

function resultIn(output: string): LoadResult {
  const found = /^result (\{.*\})$/m.exec(output)?.[1]
  if (!found) throw new Error('the load generator failed')
  return JSON.parse(found)
}
