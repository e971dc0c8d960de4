/**
 * A person who answers questions, inside the test's process, for tests of the questions. Real terminals are in
 * terminal.test.ts (`pseudo_terminal.ts`).
 */
import { PassThrough, Writable } from 'node:stream'
import { runCommand } from '../../src/cli/index.ts'
import { search } from '../support/canary.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'
import { COLUMNS, isShown, type Typed } from './pseudo_terminal.ts'

type Options = {
  cwd: string
  env: Record<string, string>
  typed?: readonly Typed[]
  /** Called when the command begins and ends to read single keys. */
  onRawMode?: (isRaw: boolean) => void
}

/** Types each text once the screen shows its prompt. */
export async function answering(
  args: readonly string[],
  { cwd, env, typed = [], onRawMode = () => {} }: Options,
): Promise<{ code: number; screen: string }> {
  const waiting = [...typed]
  let shown = ''
  const setRawMode = (isRaw: boolean) => {
    onRawMode(isRaw)
    return keyboard
  }
  const keyboard: PassThrough & { isTTY: boolean } = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode,
  })
  const answerNext = () => {
    const [next] = waiting
    if (!next || !isShown(next.when, shown)) return
    waiting.shift()
    keyboard.write(next.type)
  }
  const write = (piece: Buffer, _encoding: string, done: () => void) => {
    shown += piece.toString()
    // Waits until the question has begun to listen.
    setImmediate(answerNext)
    done()
  }
  const screen: Writable & { isTTY: boolean } = Object.assign(new Writable({ write }), {
    isTTY: true,
    columns: COLUMNS,
    rows: 30,
    // The library closes its input, unless it is a stream of the process.
    end: () => screen,
  })
  const code = await runCommand([...args], {
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...env },
    cwd,
    streams: { stdin: keyboard, stdout: screen, stderr: screen },
    argon2id: cheapArgon2id,
  })
  search('output', 'a screen', shown)
  return { code, screen: shown }
}
