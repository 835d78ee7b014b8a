import { unknownTaskId } from '../../gms/backend.ts';
import { probeForceField } from '../../gms/force-field.ts';
import { asResult, type DryRun, OperationsError, type TruncateFields } from '../../gms/operations.ts';
import { concernsServer, type ServerError } from '../../model/server-error.ts';
import { deadlineMarginMillis } from '../deadlines.ts';
import type { RunServices } from '../services.ts';

type PlanServices = Pick<RunServices, 'operations' | 'clock' | 'deadline'>;

/**
 * How Plan asks the server: one dry run first shows whether it takes the field forceDeleteByQuery, which the
 * specification does not name; once the server cannot be reached, Plan asks nothing more.
 */
export class PlanRequests {
  readonly #services: PlanServices;
  readonly #signal: AbortSignal;
  #taskStatus: Promise<ServerError | undefined> | undefined;
  /** Undefined until a dry run has shown it (rule 1). */
  refusesForceField: boolean | undefined;
  /** A failure that every further request would hit too; it is reported once, and no more requests are made. */
  serverFailure: ServerError | undefined;
  /** An answer came without a `Date` header in which a date can be read. */
  lacksDate = false;

  /** @param signal fires when Plan's time to ask is over, which is deadlineMarginMillis before its deadline */
  constructor(services: PlanServices, signal: AbortSignal) {
    this.#services = services;
    this.#signal = signal;
  }

  /** Plan's time to ask is over; it needs the rest of its time to return what it knows. */
  isLate(): boolean {
    const { clock, deadline } = this.#services;
    return this.#signal.aborted || clock.now() >= deadline() - deadlineMarginMillis;
  }

  async dryRun(fields: TruncateFields): Promise<DryRun> {
    try {
      const dryRun = await this.#services.operations.dryRun(fields, { signal: this.#signal });
      if (dryRun.clockSkewMillis === undefined) this.lacksDate = true;
      return dryRun;
    } catch (error) {
      if (error instanceof OperationsError) this.failed(error.serverError);
      throw error;
    }
  }

  /** The first dry run of a run, with the field: it may show whether the server refuses it. Throws OperationsError. */
  async firstDryRun(fields: TruncateFields): Promise<DryRun> {
    const { isRefused, dryRun } = await probeForceField((some) => this.dryRun(some), fields);
    this.refusesForceField = isRefused;
    return dryRun;
  }

  /** Why task statuses may not be read, without which a reindex cannot be judged; asked once a run. */
  taskStatusRefusal(): Promise<ServerError | undefined> {
    this.#taskStatus ??= asResult(() =>
      this.#services.operations.taskStatus(unknownTaskId, { signal: this.#signal }),
    ).then((result) => (result.kind === 'failed' && forbidsStatuses(result.error) ? result.error : undefined));
    return this.#taskStatus;
  }

  /** Records a failed request. A read that times out is tried twice, so one time-out here means two. */
  failed(error: ServerError): void {
    if (concernsServer(error) || error.kind === 'timeout') this.serverFailure ??= error;
  }
}

/**
 * Task statuses are refused by name, by DataHub or its search engine, or nobody answers. What any other answer about a
 * task that does not exist means is not specified, so it counts as readable (rule 2.6).
 */
export const forbidsStatuses = ({ status, engine }: ServerError): boolean =>
  status === undefined || status === 401 || status === 403 || engine === 'permission';
