import { serverCommand } from '../../command.ts'

const DAYS = '2'

export default serverCommand(
  {
    usage: 'calculate_metrics',
    options: [['--days <count>', 'number of days, including today', DAYS]],
  },
  async (_host, _isJson, given) =>
    (await import('../../../operator/calculate_metrics.ts')).runCalculateMetrics(
      given?.days ?? DAYS,
    ),
)
