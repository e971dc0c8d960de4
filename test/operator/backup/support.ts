/** Runs an operator's commands with a server's settings. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watched } from '../../support/watched.ts'

export const MAIN = join(import.meta.dir, '../../../src/main.ts')

export const KEYS = {
  SECRET_KEY: 'test-secret-key-test-secret-key-test',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
}

export type Ran = { code: number; out: string; err: string }

export async function operate(env: Record<string, string>, ...args: string[]): Promise<Ran> {
  const child = start(env, ...args)
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

export function start(env: Record<string, string>, ...args: string[]) {
  return watched(
    Bun.spawn([process.execPath, MAIN, ...args], {
      env: { PATH: process.env.PATH ?? '', HOME: tmpdir(), ...KEYS, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
}

/** A folder for files, which is removed at the end. */
export function scratch() {
  const path = mkdtempSync(join(tmpdir(), 'cr-backup-'))
  return {
    at: (name: string) => join(path, name),
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}
