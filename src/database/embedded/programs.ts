/**
 * Compiles PostgreSQL once for the process. Threads that are given the same module share what the
 * compiler makes of it, so that a second database in the process opens in half the time.
 */
import initdbWasm from '@electric-sql/pglite/initdb.wasm' with { type: 'file' }
import postgresWasm from '@electric-sql/pglite/pglite.wasm' with { type: 'file' }
import type { Programs } from './worker_messages.ts'

let programs: Promise<Programs> | undefined

export function compilePrograms(): Promise<Programs> {
  programs ??= compileBoth()
  return programs
}

async function compileBoth(): Promise<Programs> {
  const [postgres, initdb] = await Promise.all([compile(postgresWasm), compile(initdbWasm)])
  return { postgres, initdb }
}

async function compile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Bun.file(path).arrayBuffer())
}
