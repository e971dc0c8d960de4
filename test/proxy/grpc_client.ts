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

/** Returns what makes a call; `directory` is where the program is built. */
export async function openGrpcClient({ url, bundle }: OpenProxy, directory: string) {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'grpc_child.ts')],
    target: 'node',
    outdir: directory,
    // Another may be starting from its own.
    naming: `[name]-${Bun.randomUUIDv7()}.mjs`,
  })
  const child = watched(
    Bun.spawn(['node', outputs[0]?.path ?? ''], {
      env: { PATH: process.env.PATH ?? '', https_proxy: url, ...trustEnvironment(bundle) },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    }),
  )
  const lines = createInterface(Readable.fromWeb(child.stdout as never))[Symbol.asyncIterator]()
  return {
    /** One after the other. */
    call: async (asked: AskedCall): Promise<Outcome> => {
      child.stdin.write(`${JSON.stringify(asked)}\n`)
      await child.stdin.flush()
      const { value = '' } = await lines.next()
      search('output', 'a client of gRPC', value)
      return JSON.parse(value)
    },
    close: () => child.kill(),
  }
}
