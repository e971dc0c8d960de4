/** A person's screen and keyboard: one command in a pseudo-terminal. */
import { executable } from '../binary/executable.ts'
import { search } from '../support/canary.ts'
import { watched } from '../support/watched.ts'

/** Typed once the screen shows `when`. */
export type Typed = { when: string | RegExp; type: string }

export function isShown(when: string | RegExp, screen: string): boolean {
  return when instanceof RegExp ? when.test(screen) : screen.includes(when)
}

type Options = {
  cwd: string
  env: Record<string, string>
  typed?: readonly Typed[]
  /** Receives each output to the screen and each typed text, as it happens. */
  watch?: (event: { shown: string } | { typed: string }) => void
}

export const COLUMNS = 90

type Shown = { code: number; screen: string }

/** A command of the program; types each text once the screen shows what it waits for. */
export async function inTerminal(args: readonly string[], options: Options): Promise<Shown> {
  return typing([await executable(), ...args], options)
}

/** Runs any program in a terminal, as `inTerminal` does. */
export async function typing(
  command: readonly string[],
  { cwd, env, typed = [], watch = () => {} }: Options,
): Promise<Shown> {
  let screen = ''
  const waiting = [...typed]
  const closed = Promise.withResolvers<void>()
  const child = watched(
    Bun.spawn([...command], {
      cwd,
      env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...env },
      terminal: {
        cols: COLUMNS,
        rows: 30,
        data: (terminal, data) => {
          const shown = new TextDecoder().decode(data)
          screen += shown
          watch({ shown })
          while (waiting[0] && isShown(waiting[0].when, screen)) {
            const answer = waiting.shift()?.type ?? ''
            watch({ typed: answer })
            terminal.write(answer)
          }
        },
        exit: () => closed.resolve(),
      },
    }),
  )
  const code = await child.exited
  // A background process may keep the terminal open: the longest wait, not a pause.
  await Promise.race([closed.promise, Bun.sleep(1000)])
  // A terminal is no stream that could be watched.
  search('output', 'a terminal', screen)
  return { code, screen }
}
