/**
 * The origin of published files, as an in-toto statement with a SLSA provenance: source, builder, and the hashes of the
 * inputs. It is not signed: it states how to build identical files, and proves nothing by itself.
 */
import { join } from 'node:path'
import { packageAt } from './lock.ts'
import { digestOf, purlOf } from './sbom.ts'
import type { Source } from './source.ts'
import { type Sums, sha256OfFile } from './sums.ts'
import type { ReleaseTarget } from './targets.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const INPUTS = [
  'bun.lock',
  'package.json',
  'src/dev/release/bun.lock',
  'dist/console.tar',
  'dist/docs.tar',
]

type Made = { targets: readonly ReleaseTarget[]; source: Source; sums: Sums }

export async function provenanceOf(made: Made, env: NodeJS.ProcessEnv): Promise<string> {
  const { targets, source, sums } = made
  const files = INPUTS.map(async (name) => ({
    uri: `file:${name}`,
    digest: { sha256: await sha256OfFile(join(ROOT, name)) },
  }))
  const runtimes = targets.map(({ runtime }) => packageAt(runtime))
  const packages = runtimes.map((each) => ({
    uri: purlOf(each),
    digest: { sha512: digestOf(each) },
  }))
  const commit = source.commit === null ? [] : [sourceOf(source.commit, env)]
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: Object.entries(sums).map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:cloakroom:bun-run-release:v1',
        externalParameters: {
          targets: targets.map(({ name }) => name),
          sourceDateEpoch: source.time.getTime() / 1000,
        },
        internalParameters: { signed: false },
        resolvedDependencies: [...commit, ...(await Promise.all(files)), ...packages],
      },
      runDetails: {
        builder: { id: builderOf(env), version: { bun: Bun.version_with_sha } },
        metadata: invocationOf(env),
      },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

function sourceOf(commit: string, env: NodeJS.ProcessEnv) {
  return { uri: `git+${repositoryOf(env) ?? 'file:.'}`, digest: { gitCommit: commit } }
}

/** The workflow that runs, as GitHub names it; otherwise a developer's machine. */
function builderOf(env: NodeJS.ProcessEnv): string {
  const { GITHUB_SERVER_URL, GITHUB_WORKFLOW_REF } = env
  if (!GITHUB_WORKFLOW_REF) return 'urn:cloakroom:builder:own-machine'
  return `${GITHUB_SERVER_URL}/${GITHUB_WORKFLOW_REF}`
}

function invocationOf(env: NodeJS.ProcessEnv) {
  const repository = repositoryOf(env)
  if (repository === null) return {}
  const { GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT } = env
  return {
    invocationId: `${repository}/actions/runs/${GITHUB_RUN_ID}/attempts/${GITHUB_RUN_ATTEMPT}`,
  }
}

function repositoryOf({ GITHUB_SERVER_URL, GITHUB_REPOSITORY }: NodeJS.ProcessEnv): string | null {
  return GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}` : null
}
