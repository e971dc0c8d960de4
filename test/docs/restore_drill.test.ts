// tier: all
/** Executes the commands of docs/guides/backup.md, "Try a restore", on the encrypted backup of a server. */
import { afterAll, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { KEYS, MAIN, operate, scratch } from '../operator/backup/support.ts'
import { preparedDatabase } from '../support/database.ts'
import { watched } from '../support/watched.ts'
import { scriptOf } from './blocks.ts'

const drill = scriptOf('docs/guides/backup.md', 'drill')

const files = scratch()
afterAll(() => files.remove())

/** Runs a script with `cloakroom` on the path, and no setting of a server. */
async function runScript(script: string) {
  writeFileSync(files.at('cloakroom'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  chmodSync(files.at('cloakroom'), 0o755)
  const child = watched(
    Bun.spawn(['sh', '-euc', script], {
      cwd: files.at('.'),
      env: { PATH: `${files.at('.')}:${process.env.PATH}`, HOME: files.at('.') },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, err }
}

test('the commands of the page restore a backup into an empty folder and check it', async () => {
  const identity = await generateIdentity()
  const database = await preparedDatabase()
  const recipient = ['--recipient', await identityToRecipient(identity)]
  const backup = files.at('cloakroom.backup')
  const made = await operate(database.env, 'backup', ...recipient, backup)
  database.remove()
  expect(made).toMatchObject({ code: 0 })
  writeFileSync(files.at('key.txt'), `${identity}\n`, { mode: 0o600 })
  const keys = Object.entries(KEYS).map(([name, key]) => `${name}=${key}\n`)
  writeFileSync(files.at('keys.env'), keys.join(''), { mode: 0o600 })
  const { code, out, err } = await runScript(drill)
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(out).toContain('restored ')
  expect(out).toMatch(/^ok +encryption_key +\S+ seals /m)
}, 120_000)
