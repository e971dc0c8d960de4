/** Starts child.ts and reads its output. */
import { join } from 'node:path'
import { watched } from '../../support/watched.ts'

export type Child = {
  /** Resolves when the word has been printed; rejects if the process ends without it. */
  until(word: string): Promise<void>
  /** Everything printed so far, as complete lines. */
  lines(): string[]
  kill(): Promise<void>
  ended: Promise<number>
}

const SOURCE = [process.execPath, join(import.meta.dir, 'child.ts')]

export function startChild(directory: string, task: string, command = SOURCE): Child {
  const child = watched(
    Bun.spawn([...command, directory, task], { stdout: 'pipe', stderr: 'inherit' }),
  )
  const waiting = new Map<string, PromiseWithResolvers<void>>()
  let text = ''
  const lines = () => text.split('\n').slice(0, -1)
  const finished = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stdout) {
      text += decoder.decode(chunk, { stream: true })
      for (const line of lines()) waiting.get(line)?.resolve()
    }
    for (const { reject } of waiting.values()) reject(new Error(`ended after: ${text}`))
  })()
  return {
    lines,
    until(word) {
      const pending = Promise.withResolvers<void>()
      if (lines().includes(word)) pending.resolve()
      else waiting.set(word, pending)
      return pending.promise
    },
    async kill() {
      child.kill('SIGKILL')
      await child.exited
      await finished
    },
    ended: finished.then(() => child.exited),
  }
}
