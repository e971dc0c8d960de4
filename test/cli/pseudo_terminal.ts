/** A person's screen and keyboard: one command in a pseudo-terminal. */
import { executable } from '../binary/executable.ts'
import { search } from '../support/canary.ts'
import { watched } from '../support/watched.ts'

export type Typed = { when: string; type: string }

type Options = { cwd: string; env: Record<string, string>; typed?: readonly Typed[] }

type Shown = { code: number; screen: string }

/** A command of the program; types each text once the screen shows what it waits for. */
export async function inTerminal(args: readonly string[], options: Options): Promise<Shown> {
  return typing([await executable(), ...args], options)
}

/** The same of any program. */
export async function typing(
  command: readonly string[],
  { cwd, env, typed = [] }: Options,
): Promise<Shown> {
  let screen = ''
  const waiting = [...typed]
  const closed = Promise.withResolvers<void>()
  const child = watched(
    Bun.spawn([...command], {
      cwd,
      env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...env },
      terminal: {
        cols: 90,
        rows: 30,
        data: (terminal, data) => {
          screen += new TextDecoder().decode(data)
          while (waiting[0] && screen.includes(waiting[0].when))
            terminal.write(waiting.shift()?.type ?? '')
        },
        exit: () => closed.resolve(),
      },
    }),
  )
  const code = await child.exited
  await Promise.race([closed.promise, Bun.sleep(1000)])
  // A terminal is no stream that could be watched.
  search('output', 'a terminal', screen)
  return { code, screen }
}
