/** A stage whose agents can call an upstream of this process, by the command that the console shows. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { databasePlace } from '../support/places.ts'
import { startUpstream } from '../support/upstream.ts'
import { watched } from '../support/watched.ts'
import { openOwnStage } from './browser.ts'

export const HOST = 'api.upstream.example'

/** @param settings further variables of the server, which may depend on its origin in the browser */
export async function openReachableStage(
  settings: (origin: string) => Record<string, string> = () => ({}),
) {
  const authority = await createAuthority('Test authority')
  const file = join(databasePlace, `first-steps-${process.pid}.pem`)
  writeFileSync(file, authority.certificate)
  const upstream = await startUpstream(authority, { names: [HOST] })
  const stage = await openOwnStage((origin) => ({
    RESOLVER_CA_FILE: file,
    RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    ...settings(origin),
  }))
  return {
    stage,
    upstream,
    /** Runs the command that the page shows, against the resolver's port of this test. */
    runShownCall: async (page: Page, token: string) => {
      const text = await page.locator('pre', { hasText: 'curl' }).innerText()
      const command = text.replace(/'http[^']*\/v1\/resolve'/, `'${stage.app.resolver}/v1/resolve'`)
      const env = { ...process.env, SERVICE_TOKEN: token }
      const shell = watched(Bun.spawn(['sh', '-c', command], { env, stdout: 'pipe' }))
      return new Response(shell.stdout).text()
    },
    close: async () => {
      await stage.close()
      await upstream.stop()
    },
  }
}
