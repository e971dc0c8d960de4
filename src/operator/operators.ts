/** Answers operators' requests to a running server, except for its data. The socket defines who has access. */
import { backupHandler } from './backup/spool.ts'
import { doctorHandler } from './checks/doctor.ts'
import { type Surroundings, serveOperators } from './operator_socket.ts'
import { rekeyHandler } from './rekey_outer/handler.ts'

export function answerOperators(surroundings: Surroundings): { stop(): void } | null {
  return serveOperators(surroundings, {
    backup: backupHandler(surroundings),
    doctor: doctorHandler(surroundings),
    'rekey-outer': rekeyHandler(surroundings),
  })
}
