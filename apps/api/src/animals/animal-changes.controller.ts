import { ChangeAnimal, WithdrawAnimal } from '@adoption-store/domain';
import { Controller, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { IfMatch } from '../http/conditions.js';
import { JsonBody, MERGE_PATCH } from '../http/json-body.decorator.js';
import { Operation } from '../http/operation.js';
import { animalJson, LUNA, PetId } from './animal.schema.js';
import { AnimalPatchBody } from './animal.body.js';
import { animalTag, presentAnimal } from './present-animal.js';

/** The operations on a stored animal. They stay when `GET /v1/pets/{petId}` is removed. */
@Controller()
export class AnimalChangesController {
  constructor(
    private readonly changeAnimal: ChangeAnimal,
    private readonly withdrawAnimal: WithdrawAnimal,
  ) {}

  @Operation('PATCH /v1/pets/{petId}', {
    id: 'changePet',
    scope: 'pets:write',
    stability: 'beta',
    summary: 'Change an animal',
    description:
      'Changes the given fields, as a JSON Merge Patch (RFC 7396); the others stay. The status can be changed from ' +
      '`available` to `pending` and back; another change is refused with 409 `invalid_transition`. While an order is ' +
      'placed the status stays: 409 `order_in_progress`. With `If-Match` the animal is changed only if it is still in ' +
      'that version, otherwise the response is 412.',
    examples: { 'a name': { name: 'Bella' }, reserved: { status: 'pending' } },
    success: { 200: ['The animal has been changed.', animalJson({ ...LUNA, name: 'Bella' })] },
    refusals: [404, 409],
  })
  async change(
    @PetId() id: bigint,
    @JsonBody(AnimalPatchBody, MERGE_PATCH) change: AnimalPatchBody,
    @IfMatch() versions: readonly string[] | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const animal = await this.changeAnimal.execute({ id, change, versions });
    reply.header('etag', animalTag(animal));
    return presentAnimal(animal);
  }

  @Operation('DELETE /v1/pets/{petId}', {
    id: 'withdrawPet',
    scope: 'pets:write',
    stability: 'beta',
    summary: 'Withdraw an animal',
    description:
      'Withdraws the animal for good: it is in no list any more, and its identifier answers 404. Its earlier orders ' +
      'stay readable. While an order is placed it is refused with 409 `order_in_progress`.',
    success: { 204: ['The animal has been withdrawn.'] },
    refusals: [404, 409],
  })
  async withdraw(@PetId() id: bigint, @IfMatch() versions: readonly string[] | undefined): Promise<void> {
    await this.withdrawAnimal.execute({ id, versions });
  }
}
