/** `cloakroom settings`: the documentation of the configuration, from its declaration. */
import { describeConfig, documentConfig } from '../../../platform/config/config.ts'

export async function runSettings(json = false): Promise<number> {
  process.stdout.write(`${json ? JSON.stringify(describeConfig(), null, 2) : documentConfig()}\n`)
  return 0
}
