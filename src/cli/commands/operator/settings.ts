/** `cloakroom settings`: the documentation of the configuration, from its declaration. */
import { describeConfig, documentConfig } from '../../../core/config/config.ts'
import type { Host } from '../../host.ts'

export async function runSettings({ streams }: Host, json = false): Promise<number> {
  streams.stdout.write(`${json ? JSON.stringify(describeConfig(), null, 2) : documentConfig()}\n`)
  return 0
}
