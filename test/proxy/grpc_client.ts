/** Programs of Node.js that call by gRPC behind a proxy, each for as many calls as a test makes. */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { trustEnvironment } from '../../src/proxy/trust.ts'
import { search } from '../support/canary.ts'
import { watched } from '../support/watched.ts'
import type { AskedCall } from './grpc_child.ts'
import type { OpenProxy } from './stage.ts'

export type Outcome = {
  code: number
  details: string
  headers: Record<string, string>
  trailers: Record<string, string>
  messages: string[]
}

/** Makes calls. The program starts with the first one, and its code is written to `directory`. */
export function openGrpcClient(proxy: OpenProxy, directory: string) {
  let started: ReturnType<typeof start> | undefined
  return {
    /** One after the other. */
    call: async (asked: AskedCall): Promise<Outcome> => {
      started ??= start(proxy, directory)
      const { child, lines } = await started
      child.stdin.write(`${JSON.stringify(asked)}\n`)
      await child.stdin.flush()
      const { value = '' } = await lines.next()
      search('output', 'a client of gRPC', value)
      return JSON.parse(value)
    },
    close: () => void started?.then(({ child }) => child.kill()),
  }
}

async function start({ url, bundle }: OpenProxy, directory: string) {
  program ??= build()
  const file = join(directory, `grpc_child-${Bun.randomUUIDv7()}.mjs`)
  await Bun.write(file, await program)
  const child = watched(
    Bun.spawn(['node', file], {
      env: { PATH: process.env.PATH ?? '', https_proxy: url, ...trustEnvironment(bundle) },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    }),
  )
  const lines = createInterface(Readable.fromWeb(child.stdout as never))[Symbol.asyncIterator]()
  return { child, lines }
}

/** Built once in a process. */
let program: Promise<string> | undefined

async function build(): Promise<string> {
  const entrypoints = [join(import.meta.dir, 'grpc_child.ts')]
  const { outputs } = await Bun.build({ entrypoints, target: 'node' })
  return (await outputs[0]?.text()) ?? ''
}
