/** What operators may ask a running server for, beside its data: see the socket for who can. */
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
