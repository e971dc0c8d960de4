/** A shell that accepts commands one by one. Behind the proxy, every program that it starts is behind the proxy. */
import type { Subprocess } from 'bun'
import { watched } from '../support/watched.ts'

export type Ran = { code: number; out: string; err: string }

type Order = {
  command: readonly string[]
  env: Readonly<Record<string, string>>
  directory: string
  seconds: number
  /** Receives all standard output so far. */
  onOutput(text: string): void
}

/** Printed between the output of two commands. */
const END = /\0(\d+)\0/

export class Shell {
  readonly #child: Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #output: AsyncIterator<Uint8Array>

  /** @param start what starts a shell that reads its standard input */
  constructor(start: readonly string[], env: Record<string, string>) {
    this.#child = watched(
      Bun.spawn([...start], { env, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' }),
    )
    this.#output = this.#child.stdout[Symbol.asyncIterator]()
  }

  get pid(): number {
    return this.#child.pid
  }

  async run({ command, env, directory, seconds, onOutput }: Order): Promise<Ran> {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const program = ['timeout', '-k', '2', String(seconds), ...command].map(quoted).join(' ')
    const errors = `${directory}/errors`
    const line = `(cd ${quoted(directory)} && env ${variables.join(' ')} ${program}) </dev/null 2>${quoted(errors)}`
    this.#child.stdin.write(`${line}; printf '\\0%d\\0' $?\n`)
    await this.#child.stdin.flush()
    const { code, out } = await this.#until(onOutput)
    return { code, out, err: await Bun.file(errors).text() }
  }

  async #until(onOutput: (text: string) => void): Promise<{ code: number; out: string }> {
    const decoder = new TextDecoder()
    let out = ''
    for (;;) {
      const { done, value } = await this.#output.next()
      if (done) throw new Error(`the shell ended: ${out}`)
      out += decoder.decode(value, { stream: true })
      const end = END.exec(out)
      if (end) return { code: Number(end[1]), out: out.slice(0, end.index) }
      onOutput(out)
    }
  }

  async close(): Promise<void> {
    this.#child.stdin.end()
    await this.#child.exited
  }
}

/** For a value that the shell must not expand. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
