/** `cloakroom doctor`: for who runs a server, with its settings. */
import { EX_FAILED } from '../../../core/exit_codes.ts'
import { serverConfig } from '../../../operator/backup/index.ts'
import type { Finding } from '../../../operator/checks/check.ts'
import { diagnose } from '../../../operator/checks/doctor.ts'
import { command } from '../../command.ts'
import { runExplained } from '../../operator.ts'

export default command({
  usage: 'doctor',
  examples: ['doctor', 'doctor --json'],
  action: ({ host, output }) =>
    runExplained(host, async () => {
      const findings = await output.during('looking', diagnose(serverConfig()))
      if (output.isJson || output.isQuiet) output.table(findings, ['check', 'level', 'said'])
      else output.say(...findings.flatMap(linesOf))
      return findings.some(({ level }) => level === 'fail') ? EX_FAILED : 0
    }),
})

function linesOf({ check, level, said, todo, docs }: Finding): string[] {
  const start = `${level.padEnd(4)}  ${check.padEnd(18)}`
  if (todo === null) return [`${start}  ${said}`]
  return [`${start}  ${said}`, `${' '.repeat(start.length)}  ${todo} (${docs})`]
}
