/** A folder that already has a project: `init` with another name may be a typo. */
import { join } from 'node:path'
import type { Context } from '../../context.ts'
import { continued, nearNames } from '../../named.ts'
import { PROJECT_FILE, readProjectFile } from '../../settings.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmedOr } from '../../terminal/confirmed.ts'

/**
 * Asks before the folder's project file names another project.
 *
 * @throws CliError without a terminal, or for another answer than yes
 */
export async function demandSameProject(
  { cwd, host }: Context,
  name: string,
  projects: readonly { id: string; name: string }[],
  { yes }: { yes: boolean | undefined },
): Promise<void> {
  const { project: stored } = readProjectFile(join(cwd, PROJECT_FILE))
  const present = projects.find(({ id }) => id === stored)?.name ?? stored
  if (present === undefined || present === name) return
  const known = [present, ...projects.map((project) => project.name)]
  const near = known.includes(name) ? [] : nearNames(name, known)
  const hint = `use another project here with: cloakroom init ${name} --yes`
  await confirmedOr(
    host,
    yes === true,
    `This folder uses the project ${present}. Use ${name} instead?`,
    new CliError(
      'file_exists',
      `this folder uses the project ${present}; nothing was done`,
      near.length > 0 ? continued(`is it ${near.join(', ')}?`, hint) : hint,
    ),
  )
}
