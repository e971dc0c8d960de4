import { join } from 'node:path'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { demandReplaceable, demandRoom } from '../../files/replace.ts'
import { findNearNames, joinHints } from '../../named.ts'
import { yes } from '../../options.ts'
import { chooseWorkspace, projectNamed, projectsOf } from '../../scope.ts'
import { PROJECT_FILE, readProjectFile } from '../../settings.ts'
import { create, writeProjectFile } from '../../teams/projects.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmOrThrow } from '../../terminal/confirmed.ts'

/** Makes or chooses a project for this directory and writes the project file. */
export default command({
  usage: 'init <project>',
  examples: ['init payments', 'init payments -w acme -e staging'],
  options: [yes],
  action: async (context, [name], options) => {
    demandProjectFolder(context)
    const scope = await chooseWorkspace(context)
    const projects = await projectsOf(scope)
    await demandSameProject(context, name, projects, options)
    const known = projects.some((project) => project.name === name)
    const project = known ? projectNamed(scope, projects, name) : await create(scope, name)
    writeProjectFile(context, scope, project)
    context.output.done(
      `${known ? 'Using' : 'Created'} ${project.name}; ${PROJECT_FILE} contains names, IDs and the server address. You can commit it.`,
      { project: project.name, id: project.id, created: !known },
      project.id,
    )
    context.output.say('Next: cloakroom secrets set NAME=value')
  },
})

/** Before a project is made for this folder. @throws CliError */
function demandProjectFolder({ cwd }: Context): void {
  const path = join(cwd, PROJECT_FILE)
  demandReplaceable(path)
  demandRoom(path, 1)
}

/**
 * Asks before the folder's project file names another project.
 *
 * @throws CliError without a terminal, or for another answer than yes
 */
async function demandSameProject(
  { cwd, host }: Context,
  name: string,
  projects: readonly { id: string; name: string }[],
  { yes }: { yes: boolean | undefined },
): Promise<void> {
  const { project: stored } = readProjectFile(join(cwd, PROJECT_FILE))
  const present = projects.find(({ id }) => id === stored)?.name ?? stored
  if (present === undefined || present === name) return
  const known = [present, ...projects.map((project) => project.name)]
  const near = known.includes(name) ? [] : findNearNames(name, known)
  const hint = `to use another project here, run: cloakroom init ${name} --yes`
  await confirmOrThrow(
    host,
    yes === true,
    `This folder uses the project ${present}. Use ${name} instead?`,
    new CliError(
      'file_exists',
      `this folder uses the project ${present}; nothing was changed`,
      near.length > 0 ? joinHints(`is it ${near.join(', ')}?`, hint) : hint,
    ),
  )
}
