/** `cloakroom config`: the documentation of the configuration, from its declaration. */
import { documentConfig } from '../kernel/config.ts'

export async function runConfig(): Promise<number> {
  process.stdout.write(`${documentConfig()}\n`)
  return 0
}
