/** A machine where an operator types a page's commands. A folder of the test replaces the root of its file system. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { executable } from '../binary/executable.ts'
import { KEYS } from '../binary/scene.ts'
import type { Run } from '../cli/person.ts'
import { searchFiles } from '../support/canary.ts'
import { preparedDatabase } from '../support/database.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { until } from '../support/until.ts'
import { watched } from '../support/watched.ts'
import { ROOT as PROJECT } from './documents.ts'

export type Machine = {
  /** The path of a file that pages name. */
  at(path: string): string
  /** Replaces the paths that pages name with those of this machine. */
  placed(text: string): string
  write(path: string, text: string, mode?: number): void
  /** Writes the unit of docs/deploy and its settings file. */
  writeUnit(settings: Record<string, string>): void
  /** Runs a page's commands, in the machine's `/root`. */
  run(script: string, env?: Record<string, string>): Promise<Run>
  /** Runs commands that must succeed, and returns their output. */
  must(script: string, env?: Record<string, string>): Promise<string>
  /** Runs commands of which the last starts a server, on free ports unless `env` has others. */
  serve(script: string, env?: Record<string, string>): Promise<ServerProcess>
  /** The service's output since its last start. */
  log(): string
  remove(): Promise<void>
}

/** In place of systemd: starts the one service as its unit and settings file state, and signals it. */
const SYSTEMCTL = `
unit="$ROOT/etc/systemd/system/cloakroom.service"
value() { sed -n "s/^$1=//p" "$unit" | sed "s#^/#$ROOT/#; s#=/#=$ROOT/#"; }
signal() { kill "$1" "$(cat "$ROOT/main.pid")"; }
case "$*" in
"enable --now cloakroom" | "restart cloakroom")
  if [ -e "$ROOT/main.pid" ]; then
    signal -TERM
    until grep -q '"message":"stopped"' "$ROOT/log"; do sleep 0.05; done
  fi
  directory="$(value WorkingDirectory)"
  mkdir -p "$directory"
  cd "$directory"
  set -a
  eval "$(value Environment)"
  . "$(value EnvironmentFile)"
  : >"$ROOT/log"
  $(value ExecStart) >"$ROOT/log" 2>&1 &
  echo $! >"$ROOT/main.pid"
  until grep -q 'Stop: Ctrl-C' "$ROOT/log"; do
    kill -0 $! || { cat "$ROOT/log" >&2; exit 1; }
    sleep 0.05
  done ;;
"kill --kill-whom=main -s USR1 cloakroom") signal -USR1 ;;
*) echo "systemctl: unknown: $*" >&2; exit 64 ;;
esac`

const PROGRAMS = {
  /** In place of sudo: the test's user may write to the machine's folder. */
  sudo: 'exec "$@"',
  systemctl: SYSTEMCTL,
  /** In place of Docker: the container called cloakroom is the service. */
  docker: '[ "$*" = "kill -s USR1 cloakroom" ] && kill -USR1 "$(cat "$ROOT/main.pid")"',
}

const FOLDERS = ['etc/systemd/system', 'usr/local/bin', 'run/secrets', 'backups', 'root', 'bin']
const PATHS = /(?<![\w/.])\/(?=(?:etc|usr\/local\/bin|var\/lib|run\/secrets|backups)\b)/g

export async function openMachine(): Promise<Machine> {
  const ROOT = mkdtempSync(join(tmpdir(), 'cr-machine-'))
  const at = (path: string) => join(ROOT, path)
  for (const folder of FOLDERS) mkdirSync(at(folder), { recursive: true })
  const write: Machine['write'] = (path, text, mode = 0o600) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
    chmodSync(at(path), mode)
  }
  for (const [name, text] of Object.entries(PROGRAMS))
    write(`bin/${name}`, `#!/bin/sh\nset -eu\n${text}\n`, 0o755)
  symlinkSync(await executable(), at('usr/local/bin/cloakroom'))
  const PATH = [at('usr/local/bin'), at('bin'), process.env.PATH].join(':')
  const base = { PATH, HOME: at('root'), ROOT }
  const placed = (text: string) => text.replaceAll(PATHS, `${ROOT}/`)
  const run: Machine['run'] = async (script, env = {}) => {
    const child = watched(
      Bun.spawn(['bash', '-euc', placed(script)], {
        cwd: at('root'),
        env: { ...base, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, out, err }
  }
  const servers: ServerProcess[] = []
  const log = () => readFileSync(at('log'), 'utf8')
  return {
    at,
    placed,
    write,
    writeUnit: (settings) => {
      const unit = readFileSync(join(PROJECT, 'docs/deploy/cloakroom.service'), 'utf8')
      write('etc/systemd/system/cloakroom.service', unit)
      const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`)
      write('etc/cloakroom.env', lines.join(''))
    },
    run,
    must: async (script, env) => {
      const ran = await run(script, env)
      if (ran.code !== 0) throw new Error(`${script}\nended with ${ran.code}: ${ran.err}`)
      return ran.out
    },
    serve: async (script, env = {}) => {
      // The server replaces the shell, so that signals reach it. What `startServer` adds is the shell's `$0`.
      const text = placed(script).trim()
      const replacing = text.replace(/cloakroom (?=[^\n]*$)/, 'exec cloakroom ')
      const command = ['bash', '-euc', `cd '${at('root')}'\n${replacing}`]
      const server = await startServer({ ...base, ...env }, command)
      servers.push(server)
      return server
    },
    log,
    remove: async () => {
      for (const { kill, exited } of servers) {
        kill('SIGTERM')
        await exited
      }
      if (existsSync(at('main.pid'))) {
        process.kill(Number(readFileSync(at('main.pid'), 'utf8')), 'SIGTERM')
        await until(() => log().includes('"message":"stopped"'))
      }
      searchFiles('state', ROOT, ['usr/'])
      rmSync(ROOT, { recursive: true, force: true })
    },
  }
}

/** A machine with the settings of a server: keys, and a database with the current schema. */
export async function openServerMachine(): Promise<Machine & { settings: Record<string, string> }> {
  const machine = await openMachine()
  const database = await preparedDatabase()
  const remove = async () => {
    await machine.remove()
    database.remove()
  }
  return { ...machine, settings: { ...KEYS, ...database.env }, remove }
}

/** Stops a server. @throws Error if it ends with another code than 0 */
export async function stop(server: ServerProcess): Promise<void> {
  server.kill('SIGTERM')
  if ((await server.exited) !== 0) throw new Error(server.output())
}
