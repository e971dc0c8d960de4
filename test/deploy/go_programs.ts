/**
 * Go programs that tests here run: the Compose library, the libraries of Kubernetes, Helm and External Secrets, and
 * the receiver of OpenTelemetry's collector. Without an earlier build the second takes three minutes of a core and
 * the third a minute, so CI builds them before the suite: `bun test/deploy/go_programs.ts`.
 */
import { join } from 'node:path'
import { otherGoProgram, ownGoProgram } from '../support/other_programs.ts'

/** Milliseconds for a hook that may have to build. */
export const BUILD_MS = 600_000

export function composeProgram(): Promise<string> {
  return otherGoProgram('github.com/compose-spec/compose-go/v2/cmd@v2.16.2')
}

export function kubernetesProgram(): Promise<string> {
  return ownGoProgram(join(import.meta.dir, 'kubernetes'))
}

export function collectorProgram(): Promise<string> {
  return ownGoProgram(join(import.meta.dir, 'collector'))
}

if (import.meta.main) {
  await composeProgram()
  await kubernetesProgram()
  await collectorProgram()
}
