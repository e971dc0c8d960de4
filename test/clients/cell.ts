/** One cell of the matrix: a client does one thing, in one way, and is judged by its output and the files it leaves. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { marked, search, searchFiles, takeLeaks } from '../support/canary.ts'
import { foundInMemory } from '../support/process_memory.ts'
import type { Api } from './apis/api.ts'
import { apis } from './apis/index.ts'
import type { Action, Client, Way } from './client.ts'
import { ERROR, RECEIPT, TEXT, WORDS } from './fakes.ts'
import { quoted, type Ran, type Shell } from './shell.ts'
import { ELSEWHERE, type Stage } from './stage.ts'

export type Verdict = 'ok' | { wrong: string } | { lacking: string }

const SECONDS = 90
/** Texts of the error, in any field that its client prints. */
const REFUSED = /policy_blocked|policy of/

export async function runCell(
  stage: Stage,
  client: Client,
  command: readonly string[],
  way: Way,
  action: Action,
): Promise<Verdict> {
  const api = apiOf(client)
  const lacking = client.lacks?.[action] ?? client.lacks?.[way]
  if (lacking !== undefined) return { lacking }
  const [name = ''] = Object.keys(api.credentials)
  stage.fakes.expect(api, action, stage.values[name] ?? '')
  const directory = mkdtempSync(join(stage.directory, 'cell-'))
  for (const folder of ['home', 'tmp']) mkdirSync(join(directory, folder))
  const shell = stage.shells[way]
  let isShown = false
  const ran = await shell.run({
    command: [...command, action === 'error' || action === 'refusal' ? 'call' : action],
    env: environmentOf(stage, api, way, action, directory),
    directory,
    seconds: SECONDS,
    onOutput: (text) => {
      if (action !== 'stream' || isShown || !text.includes(WORDS[0])) return
      isShown = true
      if (stage.searchesMemory) searchMemory(shell)
      stage.fakes.goOn()
    },
  })
  search('output', `${client.name}, ${way} ${action}`, `${ran.out}\n${ran.err}`)
  searchFiles('state', directory)
  rmSync(directory, { recursive: true, force: true })
  return verdictOn(ran, client, action, isShown, [...takeLeaks(), ...stage.fakes.complaints()])
}

export function apiOf({ name, api }: Client): Api {
  const found = apis[api]
  if (!found) throw new Error(`${name} calls ${api}, which is not known`)
  return found
}

/** Quoted for the shell. */
function environmentOf(
  { resolver, token, authorityOf, fakes, file }: Stage,
  { host, isOwn, credentials, base }: Api,
  way: Way,
  action: Action,
  directory: string,
): Record<string, string> {
  const authority = authorityOf(host)
  const start = way === 'forward' ? `${resolver}/v1/forward/${authority}` : `https://${authority}`
  const isKnown = way === 'proxy' && fakes.port === 443 && !isOwn
  const bases = Object.entries(isKnown ? {} : base).map(([name, path]) => [
    name,
    quoted(start + path),
  ])
  const prefix = action === 'refusal' ? ELSEWHERE : ''
  const names = Object.keys(credentials)
  const keys = names.map((name) => {
    const forward = `${token}.SVC_SECRET_${prefix}${name}`
    return [name, way === 'forward' ? quoted(forward) : `"$${prefix}${name}"`]
  })
  const home = { HOME: join(directory, 'home'), TMPDIR: join(directory, 'tmp'), FILE: file }
  return { ...home, ...Object.fromEntries([...bases, ...keys]) }
}

/** Between two words of a stream the client is running, and has received all that it will receive of a credential. */
function searchMemory(shell: Shell): void {
  const mark = Buffer.from(marked(''))
  for (const pid of programsOf(shell.pid)) {
    if (isInMemory(pid, mark)) search('output', 'the memory of a client', mark)
  }
}

function isInMemory(pid: number, mark: Buffer): boolean {
  try {
    return foundInMemory(pid, { mark }).length > 0
  } catch (error) {
    // The process has ended meanwhile.
    if (error instanceof Error && 'code' in error && /ESRCH|ENOENT/.test(`${error.code}`))
      return false
    throw error
  }
}

/** Programs that a shell started, except the proxy around it. */
function programsOf(shell: number): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => [Number(pid), parentOf(pid)]),
  )
  const below = (pid: number): number[] =>
    [...parents]
      .filter(([, parent]) => parent === pid)
      .flatMap(([child]) => [child, ...below(child)])
  return below(shell)
}

function parentOf(pid: string): number {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return 0
  }
}

function verdictOn(
  { code, out, err }: Ran,
  { isSilent }: Client,
  action: Action,
  isShown: boolean,
  complaints: readonly string[],
): Verdict {
  const wrong = [...complaints]
  const isFailure = action === 'error' || action === 'refusal'
  if (code === 124) wrong.push(`no end within ${SECONDS} s`)
  else if (isFailure === (code === 0)) wrong.push(`ended with ${code}`)
  if (action === 'stream' && !isShown) wrong.push('nothing was shown while the stream went on')
  const isShowing = !(action === 'upload' && isSilent)
  if (isShowing && !wanted[action].test(isFailure ? `${out}\n${err}` : out))
    wrong.push('did not show the answer')
  if (wrong.length === 0) return 'ok'
  return { wrong: `${wrong.join('; ')} (${`${err}\n${out}`.trim().slice(-400)})` }
}

const wanted: Record<Action, RegExp> = {
  call: new RegExp(TEXT),
  stream: new RegExp(WORDS.join('[^]*')),
  upload: new RegExp(RECEIPT),
  error: new RegExp(ERROR),
  refusal: REFUSED,
}
